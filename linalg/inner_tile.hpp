// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/estimator.hpp>
#include <granary/linalg/scalar.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace granary {

/// The inner tile for tiles of order `tile` (see TaskEmitter::inner_tile): the smallest of 128, 192, 256, 320, 384, 448
/// and 512 at which gemm on a CPU worker is believed to reach 95 % of its best rate among them, as the Hierarchical
/// paper chooses it (section 6A: "the smallest tile size that maximizes CPU performance"). Where rates do not differ by
/// size, because nothing or one size alone was measured, 256. Only orders of at most tile / 2 count; 0 when that leaves
/// none. `gemm` is the codelet's id at the estimator, for scalars of `flops_per_fma` operations.
[[nodiscard]] std::int32_t choose_inner_tile(Estimator const& estimator, CodeletId gemm, std::uint64_t tile,
                                             double flops_per_fma = 2);

}  // namespace granary

#pragma GCC visibility pop
