// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/order_graph.hpp>

#include <cstdint>
#include <span>

namespace granary::detail {

/// The bytes that move between a memory and what is behind it.
struct GRANARY_EXPORT Traffic {
  Bytes loaded = 0;
  Bytes written = 0;
  [[nodiscard]] Bytes all() const { return loaded + written; }
};

/// Runs the tasks one after the other in this order in a memory of `memory` bytes that evicts by Belady's rule: the
/// datum whose next use is furthest away. Each value that is changed is written when it leaves, when a task elsewhere
/// reads it, or at the end, except a temporary one that nobody needs any more; what a task elsewhere writes leaves. The
/// memory is exceeded only by a task whose own data need more. O(uses log uses).
[[nodiscard]] GRANARY_EXPORT Traffic replay(OrderGraph const& graph, std::span<std::uint32_t const> order,
                                            Bytes memory);

}  // namespace granary::detail
