// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/system_view.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// Selects ready tasks for slower workers, if kinds of workers differ. A task is meant for the groups that are nearly
/// as fast on it as the fastest of its allowed groups. A slower group gets the ready tasks that lose least there, as
/// long as the faster ones have enough work until it ends them.
///
/// O(groups) for each task, O(1) if all workers are of one kind; O(log ready tasks) for each ready task.
class GRANARY_EXPORT SlowerGroups {
 public:
  void attach(SystemView const& view);

  /// The groups for which the ready task is meant, as believed when it became ready. However estimates change, each
  /// group finds the same when it is asked later; otherwise each could leave the task to another one for ever.
  [[nodiscard]] GroupSet fast_groups(Task const& task) const {
    auto const believed = m_pace.find(task.id);
    return believed == m_pace.end() ? task.allowed_groups : believed->second.fast_groups;
  }
  [[nodiscard]] bool is_fast(Task const& task, GroupId group) const { return fast_groups(task).contains(group); }
  /// True if the group runs the tasks that it may run, one after the other, nearly as fast as their fastest groups
  /// would; as estimated now. O(tasks · groups), O(1) if all workers are of one kind.
  [[nodiscard]] bool fast_on_all(std::span<TaskId const> tasks, GroupId group) const;

  /// The task became ready. Returns its fast_groups.
  GroupSet ready(Task const& task);
  /// The task was given to a group or cancelled. Does nothing if it was not ready.
  void leave(Task const& task);
  /// A ready task that the group, a slower one, would end before the faster ones have run all ready tasks; invalid when
  /// there is none.
  [[nodiscard]] TaskId best_for(GroupId group) const;

 private:
  // A task's times on the kinds of workers on which it is allowed.
  struct Pace {
    GroupSet fast_groups = {};
    std::int64_t fastest_ns = 0;
    double slowdown = 1;  // of the slowest allowed group
  };
  // By slowdown, then least urgent first.
  using Entry = std::tuple<double, std::int64_t, TaskId>;

  [[nodiscard]] bool kinds_differ() const { return m_one_of_each_kind.size() > 1; }
  [[nodiscard]] Pace pace(Task const& task) const;

  SystemView const* m_view = nullptr;
  std::vector<GroupId> m_one_of_each_kind;
  std::set<Entry> m_ready;                  // those that slower groups could run
  std::unordered_map<TaskId, Pace> m_pace;  // of these, with the estimates of when they became ready
  std::int64_t m_fast_backlog_ns = 0;       // of these, on the fastest groups
};

}  // namespace granary::detail
