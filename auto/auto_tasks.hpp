// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/core/policy/task_table.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace granary::detail {

/// The tasks that have not ended, as a scheduler knows them that uses others: who gave them to a group. Of schedulers
/// that do not choose turns, a task without its turn is kept here until it has it.
class AutoTasks {
 public:
  void submitted(TaskId task);
  void ready(TaskId task) { m_known[m_known.slot(task)].ready = true; }
  /// The present scheduler gave the task to the group that asks.
  TaskId give(TaskId task);
  /// The same, but the task has no turn yet: it is kept for the group.
  void keep(TaskId task, GroupId group);
  /// A task that is kept for the group and may have its turn now; invalid when there is none.
  [[nodiscard]] TaskId take_kept(GroupId group, SystemView const& view);
  /// The task has ended, or was withdrawn. True if the present scheduler has given it to a group or to keep.
  bool ended(TaskId task);
  bool withdrawn(TaskId task);
  /// Another scheduler is the present one from now on: it has given none of them.
  void change_scheduler();

  /// All of them, in the order of submission.
  [[nodiscard]] std::vector<TaskId> all() const;
  /// True if no group has the task.
  [[nodiscard]] bool waits(TaskId task) const { return m_known.at(task).given_by == 0; }
  [[nodiscard]] bool is_ready(TaskId task) const { return m_known.at(task).ready; }
  [[nodiscard]] bool given_by_present(TaskId task) const { return m_known.at(task).given_by == m_number; }
  /// The number of tasks that no group has, and of those of them that were submitted since `look`.
  [[nodiscard]] std::size_t waiting() const { return m_waiting; }
  [[nodiscard]] std::size_t fresh() const { return m_new; }
  void look();

 private:
  struct Known {
    std::uint64_t new_in = 0;  // as m_looks, when it was submitted
    bool ready = false;
    std::uint64_t given_by = 0;  // the number of the scheduler that gave it away; 0: none
  };
  void leave(Known const& known);

  TaskTable<Known> m_known;
  std::size_t m_known_tasks = 0;  // how many
  std::vector<TaskId> m_tasks;    // these, and some that have ended
  std::size_t m_waiting = 0;      // of those that have not, how many no group has
  std::size_t m_new = 0;          // of these, how many were submitted since the last look
  std::map<GroupId, std::vector<TaskId>> m_kept;
  std::uint64_t m_number = 0;  // of the present scheduler: how many there were
  std::uint64_t m_looks = 0;
};

}  // namespace granary::detail
