// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/task.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// Ready tasks by priority, then submission, in one set per set of groups for which they are. O(sets of groups + log).
class GRANARY_EXPORT ReadyPool {
 public:
  void insert(Task const& task, GroupSet groups) { of(groups).insert(entry(task)); }
  /// `groups` as inserted. False if the task is not in the pool.
  bool erase(Task const& task, GroupSet groups) { return of(groups).erase(entry(task)) != 0; }
  /// The first task for the group; invalid when there is none.
  [[nodiscard]] TaskId first(GroupId group) const {
    return first_of(group, 1, [](TaskId) { return true; });
  }
  /// The first task for the group of which `wanted(task)` holds, among the first `depth` of each
  /// set of groups; invalid when there is none.
  template <class Wanted>
  [[nodiscard]] TaskId first_of(GroupId group, std::size_t depth, Wanted&& wanted) const {
    Entry const* best = nullptr;
    for (auto const& [groups, tasks] : m_tasks) {
      if (!groups.contains(group)) continue;
      std::size_t looked_at = 0;
      for (auto it = tasks.begin(); it != tasks.end() && looked_at < depth; ++it, ++looked_at) {
        if (best != nullptr && !(*it < *best)) break;
        if (!wanted(it->second)) continue;
        best = &*it;
        break;
      }
    }
    return best == nullptr ? TaskId{} : best->second;
  }

 private:
  using Entry = std::pair<std::int64_t, TaskId>;  // the negative priority, so that the most urgent comes first
  static Entry entry(Task const& task) { return {-task.priority, task.id}; }
  std::set<Entry>& of(GroupSet groups) {
    for (auto& [key, tasks] : m_tasks) {
      if (key == groups) return tasks;
    }
    return m_tasks.emplace_back(groups, std::set<Entry>{}).second;
  }

  std::vector<std::pair<GroupSet, std::set<Entry>>> m_tasks;
};

}  // namespace granary::detail
