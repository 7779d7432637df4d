// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/kernels/kernel_speed.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace granary {

/// A tile size of a factorization on cores.
struct GRANARY_EXPORT TileChoice {
  std::uint64_t tile = 0;
  std::int32_t inner_tile = 0;  ///< see TaskEmitter::inner_tile; 0: tasks have no finer graphs
  double seconds = 0;           ///< the time that is expected
};

/// The speeds of the tile kernels of one core that a machine's file of models holds (models_file), for several tile
/// sizes, the smallest first. They are kept beside the times of codelets, as variants "d alone" and "s alone"; complex
/// elements have the speeds of their parts. If the file has none and `measure` is true, they are measured, in 0.2 s of
/// processor time, and kept. Empty if they are not known, or if the file cannot be read or written.
[[nodiscard]] GRANARY_EXPORT std::vector<KernelSpeeds> tile_speeds(std::filesystem::path const& file, ScalarType type,
                                                                   bool measure);

/// The smallest and the largest tile that may be chosen; none if the largest is smaller.
struct TileRange {
  std::uint64_t least = 1;
  std::uint64_t most = ~std::uint64_t{0};
};

/// Returns the tile size for a Cholesky factorization of order n, and its inner tile: of the sizes in `range` with
/// known speeds, the smallest whose expected time is within 2 % of the best. The expected time is the bound of list
/// scheduling, work / workers + (1 - 1 / workers) critical path, with a constant time per task start. LU without
/// pivoting has the same kernels in similar proportions. The inner tile is in `inner` and at most half the tile; it is
/// 0 if it gains less than 0.5 %. `tile` is 0 if no size is known.
///
/// ```cpp
/// auto const speeds = granary::tile_speeds(file, granary::ScalarType::Float64, true);
/// auto const choice = granary::fastest_tile(speeds, 30000, 16, {.most = 1024});
/// ```
[[nodiscard]] GRANARY_EXPORT TileChoice fastest_tile(std::span<KernelSpeeds const> speeds, std::uint64_t n,
                                                     unsigned workers, TileRange range = {}, TileRange inner = {});

}  // namespace granary
