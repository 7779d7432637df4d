// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/movement/memories.hpp>

#include <unordered_map>
#include <vector>

namespace granary::detail {

/// The places in which tasks leave their values of varying data: a place beside the present value, which they may read
/// meanwhile, or the datum's own place if there is no value.
class GRANARY_EXPORT Results {
 public:
  Results(PlannerContext& context, DataTable& data, Memories& memories)
      : m_context(context), m_data(data), m_memories(memories) {}

  /// The bytes that a task's result may have, before it has places; or has, before `become_value`.
  void expect(DataId data, Bytes bytes) { m_data[data].result = bytes; }
  /// Adds the places that a task with this access needs on the node and does not have: for the present value, and
  /// beside it for the result. A task that does not read, on a node without the value, leaves the result in the datum's
  /// own place; a present value may pass through it before.
  void list_lacking(Access const& access, NodeId node, std::vector<Memories::Lacking>& lacking) const {
    auto const& datum = m_data[access.data];
    if (datum.varies) return list_varying(access, node, lacking);
    if (datum.on(node) == nullptr) lacking.push_back({access.data, datum.bytes, false});
  }

  /// Bytes were taken for the result.
  void add(DataId data, NodeId node, Bytes offset);
  /// The task has not made it. Nothing happens if there is no place beside the datum's own.
  void drop(DataId data) {
    if (!m_places.empty()) drop_place(data);
  }
  /// The task has made the value, in `Datum::result` bytes: it becomes the replica's value.
  void become_value(DataId data, Replica& written);

  /// The place beside the datum's own; null: there is none.
  [[nodiscard]] Place const* find(DataId data) const {
    if (m_places.empty()) return nullptr;
    auto const found = m_places.find(data);
    return found != m_places.end() ? &found->second : nullptr;
  }

 private:
  void list_varying(Access const& access, NodeId node, std::vector<Memories::Lacking>& lacking) const;
  void drop_place(DataId data);

  PlannerContext& m_context;
  DataTable& m_data;
  Memories& m_memories;
  std::unordered_map<DataId, Place> m_places;  // by datum: at most one task that writes it has places
};

}  // namespace granary::detail
