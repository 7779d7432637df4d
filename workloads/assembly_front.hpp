// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::workloads {

/// A dense front of a multifrontal factorization, in blocks: the first `pivots` of `blocks` block columns are factored
/// here; the rest is the contribution to the parent.
struct GRANARY_EXPORT AssemblyFront {
  std::uint64_t blocks = 1;
  std::uint64_t pivots = 1;
  std::vector<std::size_t> children;  ///< indices of earlier fronts in the list
};

}  // namespace granary::workloads
