// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/indexed_heap.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/core/policy/task_table.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// The *Ready* reordering (DARTS, Algorithm 2) without a search: for every planned task of each group, the bytes that
/// it needs and that are neither on the group's node nor in transfer there, updated incrementally.
///
/// Adding, removing and choosing cost O(accesses + log tasks); a datum that arrives or leaves costs O(log tasks) for
/// each planned task that uses it on the node.
class GRANARY_EXPORT ReadyOrder {
 public:
  /// The first key of the order: the tasks' ranks or the bytes that they need. Smaller values come first; the other key
  /// decides between equals, then the order in which tasks were added.
  enum class By : std::uint8_t { Rank, MissingBytes };

  explicit ReadyOrder(By by = By::Rank) : m_by_bytes(by == By::MissingBytes) {}
  void attach(SystemView const& view, PlanBoard const& board);

  /// The task is in the group's plan.
  void add(Task const& task, GroupId group, std::int64_t rank);
  void remove(TaskId task, GroupId group);
  /// The first task in this order; the group has at least one task.
  [[nodiscard]] TaskId first(GroupId group);

  /// The datum may have arrived on the node or left it, or its transfer to it may have begun or been cancelled.
  void touch(DataId data, NodeId node);
  void touch_all(Task const& task, NodeId node);

 private:
  struct Key {
    std::int64_t first;   // the rank or the missing bytes, as m_by_bytes says
    std::int64_t second;  // the other
    std::uint64_t arrival;
    auto operator<=>(Key const&) const = default;
  };
  struct Entry {
    TaskId task;
    Key key;
  };
  struct Presence {
    bool here = false;
    bool touched = false;
  };

  [[nodiscard]] std::size_t place(DataId data, NodeId node) const {
    return data.index() * m_touched.size() + node.index();
  }
  [[nodiscard]] Bytes missing(Task const& task, NodeId node) const;
  void refresh(DataId data, NodeId node);
  void set_missing(Key& key, Bytes bytes) const {
    (m_by_bytes ? key.first : key.second) = static_cast<std::int64_t>(bytes);
  }

  bool m_by_bytes;
  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  TaskTable<Entry> m_entries;
  std::vector<IndexedHeap<Key>> m_heaps;       // by group: slots
  std::vector<Presence> m_presence;            // by datum and node; valid if planned tasks use the datum
  std::vector<std::vector<DataId>> m_touched;  // by node
  std::uint64_t m_arrivals = 0;
};

}  // namespace granary::detail
