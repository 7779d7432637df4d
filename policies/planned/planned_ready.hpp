// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/group_set.hpp>
#include <granary/detail/core/model/task.hpp>
#include <granary/detail/policies/planned/plan_state.hpp>
#include <granary/detail/policies/planned/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// Ready tasks by rank, then submission, in one set per set of groups for which they are. O(sets of groups + log).
class ReadyByRank {
 public:
  void insert(TaskId task, std::int64_t rank, GroupSet groups) { of(groups).emplace(rank, task); }
  /// `rank` and `groups` as inserted. False if the task is not there.
  bool erase(TaskId task, std::int64_t rank, GroupSet groups) { return of(groups).erase({rank, task}) != 0; }
  /// The first task for the group; invalid when there is none.
  [[nodiscard]] TaskId first(GroupId group) const {
    Entry const* best = nullptr;
    for (auto const& [groups, tasks] : m_tasks) {
      if (!groups.contains(group) || tasks.empty()) continue;
      if (best == nullptr || *tasks.begin() < *best) best = &*tasks.begin();
    }
    return best == nullptr ? TaskId{} : best->second;
  }
  /// The last task of the largest set that is not for the group; invalid when there is none.
  [[nodiscard]] TaskId last_of_others(GroupId group, std::size_t& tasks_there) const {
    std::set<Entry> const* largest = nullptr;
    for (auto const& [groups, tasks] : m_tasks) {
      if (groups.contains(group) || tasks.empty()) continue;
      if (largest == nullptr || tasks.size() > largest->size()) largest = &tasks;
    }
    if (largest == nullptr) return {};
    tasks_there = largest->size();
    return largest->rbegin()->second;
  }

 private:
  using Entry = std::pair<std::int64_t, TaskId>;
  std::set<Entry>& of(GroupSet groups) {
    for (auto& [key, tasks] : m_tasks) {
      if (key == groups) return tasks;
    }
    return m_tasks.emplace_back(groups, std::set<Entry>{}).second;
  }

  std::vector<std::pair<GroupSet, std::set<Entry>>> m_tasks;
};

/// The ready tasks of `planned`: for each group in the order of the plan. Of those that commute, only the ones that are
/// first on all of their data are offered to groups (see Turns).
class PlannedReady {
 public:
  explicit PlannedReady(PlanState& state) : m_state(state) {}

  /// The task, if it is ready, joins the ready tasks, or leaves them. Its entry and its block must not change between.
  void insert(TaskId task);
  void erase(TaskId task);
  /// The task takes its turn; false if it has none now.
  [[nodiscard]] bool take_turn(TaskId task);
  void end_turn(TaskId task);

  /// The group's next ready task of blocks with an owner; invalid when there is none.
  [[nodiscard]] TaskId first_own(GroupId group) const { return m_own.first(group); }
  /// The same with several nodes: the one with the longest chain.
  [[nodiscard]] TaskId most_urgent(GroupId group) const { return m_urgent.first(group); }
  [[nodiscard]] TaskId first_other(GroupId group) const { return m_others.first(group); }
  /// The last one of the group that has the most tasks of its own blocks, and their number.
  [[nodiscard]] TaskId last_of_others(GroupId group, std::size_t& tasks_there) const {
    return m_own.last_of_others(group, tasks_there);
  }
  /// The groups to which a ready task is offered.
  [[nodiscard]] GroupSet groups_for(Task const& task) const;

 private:
  void change_offer(TaskId task, bool offered);
  template <class Change>
  void change_turns(AccessList const& accesses, Change&& change);

  PlanState& m_state;
  ReadyByRank m_own;     // of blocks with an owner
  ReadyByRank m_urgent;  // the same with several nodes, the longest chains first
  ReadyByRank m_others;
  Turns m_turns;  // of those that commute
};

}  // namespace granary::detail
