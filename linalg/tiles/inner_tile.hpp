// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

#include <cstdint>

namespace granary {

/// The inner tile size for tiles of size `tile` (see TaskEmitter::inner_tile): the smallest of 128, 192, 256, 320, 384,
/// 448 and 512 at which the estimated speed of gemm on a CPU worker reaches 95 % of the best among them, as in the
/// Hierarchical paper (section 6A: "the smallest tile size that maximizes CPU performance"). 256 if the speed does not
/// depend on the size, because nothing or only one size was measured. Only sizes up to tile / 2 count; 0 if there is
/// none. `gemm`: the codelet's id at the estimator, for scalars of `flops_per_fma` operations.
[[nodiscard]] GRANARY_EXPORT std::int32_t choose_inner_tile(Estimator const& estimator, CodeletId gemm,
                                                            std::uint64_t tile, double flops_per_fma = 2);

}  // namespace granary
