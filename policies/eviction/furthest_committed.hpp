// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/system_view.hpp>

namespace granary::detail {

/// Belady's rule over the committed tasks of the node's groups: of the evictable replicas that they use, the one whose
/// next use is furthest away; invalid when there is none. A datum's next use is its first position in a group's
/// committed order; with several groups on the node, the smallest. O(accesses of the committed tasks).
[[nodiscard]] GRANARY_EXPORT DataId furthest_committed_use(SystemView const& view, NodeId node);

}  // namespace granary::detail
