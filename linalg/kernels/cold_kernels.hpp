// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/linalg/kernels/kernel_speed.hpp>

#include <chrono>
#include <span>
#include <vector>

namespace granary {

/// How long measure_cold_kernels may take, and with how much memory.
struct GRANARY_EXPORT ColdKernelLimits {
  std::chrono::duration<double> processor_time;
  Bytes memory;  ///< through which the tiles of the calls move; at least six of the largest are used
};

/// The speeds of the kernels of tile_kernels.hpp as the tasks of a factorization find them: each call has tiles that
/// the caches have long lost. `tiles` are ascending sizes. Each size has a turn with all kernels, about 4.4 tile³
/// flops, and four times as much below tiles of 512. Then GEMM, of which most of a factorization consists, has up to
/// four further turns of all sizes. No turn begins that is expected to exceed the limit of processor time; so the
/// largest sizes may be left out, but never the smallest one. The median of a kernel's calls counts. Times are
/// processor times of this thread: programs that run on the same cores hardly change the speeds.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::vector<KernelSpeeds> measure_cold_kernels(std::span<int const> tiles,
                                                                            ColdKernelLimits const& limits);

}  // namespace granary
