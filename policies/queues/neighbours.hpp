// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <vector>

namespace granary::detail {

/// By group: the other groups, those first from whose node data arrive soonest; equally near ones in ring order, so
/// that not all thieves choose the same victim. O(groups² log groups).
[[nodiscard]] GRANARY_EXPORT std::vector<std::vector<GroupId>> neighbours_of_groups(Topology const& topology);

}  // namespace granary::detail
