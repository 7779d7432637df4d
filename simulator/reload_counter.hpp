// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/planner/observer.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// Counts the copies of values to a node that has held them before.
class GRANARY_EXPORT ReloadCounter final : public PlannerObserver {
 public:
  explicit ReloadCounter(std::size_t nodes) : m_nodes(nodes) {}
  /// A copy of the datum's current value to the node's memory starts.
  void copied(DataId data, NodeId node, Bytes bytes);
  /// A task on the node overwrites the datum.
  void written(DataId data, NodeId node);
  void forgotten(DataId data);
  [[nodiscard]] std::uint64_t reloads() const { return m_reloads; }
  [[nodiscard]] Bytes bytes() const { return m_bytes; }

 private:
  void performed(Command const& command) override;
  void grow(DataId data);

  std::size_t m_nodes;
  std::vector<bool> m_held;  // by datum and node: whether the node has held the current value
  std::uint64_t m_reloads = 0;
  Bytes m_bytes = 0;
};

}  // namespace granary::detail
