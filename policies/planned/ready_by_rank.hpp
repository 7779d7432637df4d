// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/group_set.hpp>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// Ready tasks by rank, then submission, in one set per set of groups for which they are. O(sets of groups + log).
class GRANARY_EXPORT ReadyByRank {
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

}  // namespace granary::detail
