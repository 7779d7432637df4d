// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/export.hpp>

#include <optional>
#include <vector>

namespace granary::detail {

/// The cores of one host worker.
struct GRANARY_EXPORT CoreGroup {
  std::vector<unsigned> cores;     ///< as HostResources::cores
  std::optional<unsigned> domain;  ///< the number of the NUMA domain that has them all; absent: unknown
};

/// Divides cores into groups of `size`, at least 1, in the given order. All cores of a group are of one of the domains:
/// the first that has the core, or none of them. Cores that are left over in a domain are in no group.
[[nodiscard]] GRANARY_EXPORT std::vector<CoreGroup> divide_cores(std::vector<unsigned> const& cores,
                                                                 std::vector<NumaDomain> const& domains, unsigned size);

/// The numbers of the domains of these cores, ascending.
[[nodiscard]] GRANARY_EXPORT std::vector<unsigned> domains_of(std::vector<unsigned> const& cores,
                                                              std::vector<NumaDomain> const& domains);

}  // namespace granary::detail
