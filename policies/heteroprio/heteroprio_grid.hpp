// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/group_set.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/lazy_task_heap.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace granary::detail {

/// Ready tasks in lists by bucket and column (LAHeteroprio, Figure 3); a column is a memory node, or there is only one.
///
/// Each list is sorted by priority and belongs to one set of allowed groups, so that a task for one group never blocks
/// tasks of another. Insertion and removal cost O(log tasks + distinct sets of groups).
class GRANARY_EXPORT BucketGrid {
 public:
  /// Tasks of one bucket, column and set of groups.
  struct List {
    GroupSet allowed_groups;
    std::array<std::uint32_t, worker_kinds> workers{};  ///< workers that may run them, by kind
    std::set<RankedTask> tasks;                         ///< the most urgent last
    [[nodiscard]] bool allowed_on(GroupId g) const { return allowed_groups.contains(g); }
  };

  BucketGrid() = default;
  BucketGrid(Topology const& topology, std::size_t columns) : m_topology(&topology), m_columns(columns) {}

  /// Returns the task's slot, a small number that is unique until the task is removed.
  std::uint32_t insert(RankedTask task, GroupSet allowed_groups, std::uint32_t bucket, std::uint32_t column) {
    std::uint32_t const list = list_of(allowed_groups, bucket, column);
    cell(bucket, column)[list].tasks.insert(task);
    count(bucket, cell(bucket, column)[list], 1);
    return m_entries.insert(task.task, {task, bucket, column, list});
  }

  /// Removes the task; returns its slot, or TaskSlots::none if it is not here.
  std::uint32_t erase(TaskId task) {
    std::uint32_t const slot = m_entries.slot(task);
    if (slot == TaskSlots::none) return slot;
    auto const place = m_entries.take(task);
    auto& list = cell(place.bucket, place.column)[place.list];
    list.tasks.erase(place.task);
    count(place.bucket, list, -1);
    return slot;
  }

  /// The lists of a bucket and column.
  [[nodiscard]] std::vector<List> const& lists(std::uint32_t bucket, std::uint32_t column) const {
    return m_cells[bucket * m_columns + column];
  }
  /// The number of tasks of the bucket, in all columns, that the kind of worker may run.
  [[nodiscard]] std::size_t available(std::uint32_t bucket, WorkerKind kind) const {
    return m_available[bucket][static_cast<std::size_t>(kind)];
  }
  void add_bucket() {
    m_cells.resize(m_cells.size() + m_columns);
    m_available.emplace_back();
  }

 private:
  struct Entry {
    RankedTask task;
    std::uint32_t bucket = 0;
    std::uint32_t column = 0;
    std::uint32_t list = 0;
  };

  std::vector<List>& cell(std::uint32_t bucket, std::uint32_t column) { return m_cells[bucket * m_columns + column]; }

  std::uint32_t list_of(GroupSet allowed_groups, std::uint32_t bucket, std::uint32_t column) {
    auto& lists = cell(bucket, column);
    for (std::uint32_t i = 0; i < lists.size(); ++i) {
      if (lists[i].allowed_groups == allowed_groups) return i;
    }
    List& list = lists.emplace_back();
    list.allowed_groups = allowed_groups;
    for (GroupId const id : allowed_groups) {
      auto const& group = m_topology->group(id);
      list.workers[static_cast<std::size_t>(group.kind)] += static_cast<std::uint32_t>(group.workers.size());
    }
    return static_cast<std::uint32_t>(lists.size() - 1);
  }

  void count(std::uint32_t bucket, List const& list, int change) {
    for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
      if (list.workers[kind] > 0) m_available[bucket][kind] += static_cast<std::size_t>(change);
    }
  }

  Topology const* m_topology = nullptr;
  std::size_t m_columns = 1;
  std::vector<std::vector<List>> m_cells;  // by bucket, then column
  std::vector<std::array<std::size_t, worker_kinds>> m_available;
  TaskTable<Entry> m_entries;
};

}  // namespace granary::detail
