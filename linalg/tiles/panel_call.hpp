// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

/// Common parts of the kernels that work on several tiles of a panel.
namespace granary::detail {

/// A column of tiles, one access each from `first_access` on: full ones, and perhaps a smaller last one.
struct TileStack {
  std::size_t count = 0;
  std::uint64_t first = 0;  ///< row in the matrix
  std::int32_t tile = 0;
  std::int32_t rows = 0;  ///< of all tiles
  TileShape shape;        ///< of all tiles but the last
  TileShape last;

  TileStack() = default;
  explicit TileStack(std::span<TileRef const> tiles) : TileStack(tiles, 0, 0) {}
  TileStack(std::span<TileRef const> tiles, std::uint64_t first_row, std::uint64_t order)
      : count(tiles.size()), first(first_row), tile(to_int32(order, "a tile size")) {
    std::int64_t sum = 0;
    for (auto const& one : tiles) sum += one.rows;
    rows = to_int32(sum, "a panel with a number of rows");
    if (tiles.empty()) return;
    shape = tiles.front();
    last = tiles.back();
  }

  template <class T>
  [[nodiscard]] TileView<T> view(KernelCall const& call, std::size_t first_access, std::size_t i) const {
    return output_tile<T>(call, first_access + i, i + 1 < count ? shape : last);
  }
  template <class T>
  [[nodiscard]] std::vector<TileView<T>> views(KernelCall const& call, std::size_t first_access) const {
    std::vector<TileView<T>> tiles;
    for (std::size_t i = 0; i < count; ++i) tiles.push_back(view<T>(call, first_access, i));
    return tiles;
  }
};

/// `count` rows of A from row `first` on.
template <class T>
[[nodiscard]] TileView<T> rows_of(TileView<T> const& a, int first, int count) {
  auto const step = a.layout == TileLayout::ColumnMajor ? 1 : static_cast<std::ptrdiff_t>(a.ld);
  return {a.data + first * step, count, a.cols, a.ld, a.layout};
}

/// TO := FROM.
template <class T>
void copy_rows(TileView<T> const& from, TileView<T> const& to) {
  kernels::copy<T, T>(MatrixPart::All, false, from, to);
}

template <AccessMode Mode>
[[nodiscard]] std::vector<Access> accesses_to(std::span<TileRef const> tiles) {
  std::vector<Access> accesses;
  for (auto const& tile : tiles) accesses.push_back({tile.data, Mode});
  return accesses;
}

/// Flops of the LU factorization of an m x n matrix: m n k - (m + n) k²/2 + k³/3 fused multiply-adds, k the smaller
/// extent.
template <class T>
[[nodiscard]] double lu_flops(double m, double n) {
  double const k = std::min(m, n);
  return flops_of<T>(m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
}

}  // namespace granary::detail
