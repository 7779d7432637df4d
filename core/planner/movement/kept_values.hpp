// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/movement/data_table.hpp>
#include <granary/detail/core/planner/movement/memories.hpp>

#include <cstdint>
#include <unordered_map>

namespace granary::detail {

/// Selects, of the values that a holder overwrites and needs, those that are kept until it has ended.
enum class GRANARY_EXPORT Keep : std::uint8_t {
  Nothing,
  Elsewhere,  ///< what other memories hold
  Aside,      ///< the same; values that no other one holds are kept aside, where there is room
};

/// Bytes of the nodes' memories in which the values are kept that a task overwrites, so that it may be aborted. They
/// are taken only from what is free and nobody waits for: whoever comes later waits for the task's end, which frees
/// them.
class GRANARY_EXPORT KeptValues {
 public:
  KeptValues(PlannerContext& context, DataTable& data, Memories& memories)
      : m_context(context), m_data(data), m_memories(memories) {}

  /// Takes bytes on the node for each datum of the list that is read and written there and whose value no other memory
  /// holds: for all of these or for none. Values of varying data are not overwritten (Results).
  void keep(AccessList const& accesses, NodeId node);
  /// The place where the datum's value is kept, or null.
  [[nodiscard]] Place const* find(DataId data) const {
    auto const found = m_places.find(data);
    return found != m_places.end() ? &found->second : nullptr;
  }
  /// Gives the bytes back, if there are any; returns whether there were.
  bool release(DataId data);

 private:
  [[nodiscard]] bool keep(DataId data, NodeId node);

  PlannerContext& m_context;
  DataTable& m_data;
  Memories& m_memories;
  std::unordered_map<DataId, Place> m_places;
};

}  // namespace granary::detail
