// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/access.hpp>

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace granary {

/// The orders that a scheduler has published, one per group: the planned part of each plan. The planner and eviction
/// policies read it.
///
/// Appending, removing and counting cost O(accesses of the task).
class PlanBoard {
 public:
  explicit PlanBoard(std::size_t groups) : m_plans(groups) {}

  /// Puts the task at the end of the group's plan; a task stands in one plan at a time.
  void append(GroupId group, TaskId task, AccessList const& accesses);
  /// Takes the task out of its plan, if it is in one.
  void remove(TaskId task);
  /// The group's planned tasks in order.
  [[nodiscard]] std::list<TaskId> const& plan(GroupId group) const { return m_plans[group.index()].order; }
  [[nodiscard]] bool planned(TaskId task) const { return m_entries.contains(task); }
  /// How many planned tasks of the group use the datum.
  [[nodiscard]] std::uint32_t uses(DataId data, GroupId group) const {
    auto const& users = m_plans[group.index()].users;
    return data.index() < users.size() ? static_cast<std::uint32_t>(users[data.index()].size()) : 0;
  }
  /// The planned tasks of the group that use the datum, in no particular order.
  [[nodiscard]] std::vector<TaskId> users(DataId data, GroupId group) const;

  /// Called with (datum, group) after the number of its planned uses changed.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void planned_uses_changed(DataId data, GroupId group) = 0;
  };
  void observe(Observer* observer) { m_observer = observer; }

 private:
  struct Plan {
    std::list<TaskId> order;
    std::vector<std::vector<TaskId>> users;  // by datum
  };
  struct Entry {
    GroupId group;
    std::list<TaskId>::iterator position;
    std::vector<DataId> data;
  };

  std::vector<Plan> m_plans;
  std::unordered_map<TaskId, Entry> m_entries;
  Observer* m_observer = nullptr;
};

}  // namespace granary
