// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

namespace granary {

/// A square matrix of order `n` cut into tiles of order `tile`; the last tile row and column may be smaller. Tiles and
/// elements are numbered from 0. Both numbers are at least 1.
struct TileGrid {
  std::uint64_t n = 1;
  std::uint64_t tile = 1;

  /// Tiles in a row.
  [[nodiscard]] constexpr std::uint64_t count() const { return (n + tile - 1) / tile; }
  /// Rows of the matrix in tile row i, or columns in tile column i.
  [[nodiscard]] constexpr std::uint64_t size(std::uint64_t i) const { return std::min(tile, n - first(i)); }
  /// The first row of tile row i.
  [[nodiscard]] constexpr std::uint64_t first(std::uint64_t i) const { return i * tile; }
  /// Tiles of one triangle with the diagonal.
  [[nodiscard]] constexpr std::uint64_t triangle() const { return count() * (count() + 1) / 2; }
};

}  // namespace granary
