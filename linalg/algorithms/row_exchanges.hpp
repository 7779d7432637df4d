// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/lu.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

/// The row exchanges of LU, for its factorization and its solves.
namespace granary::detail {

inline std::string extents(TileGrid const& grid) {
  return std::to_string(grid.rows) + " x " + std::to_string(grid.cols);
}

inline void require_pivots(char const* function, TileGrid const& grid, PivotData const& pivots) {
  if (pivots.panels.size() != grid.diagonal()) {
    throw InvalidArgument(std::string(function) + " got the pivots of " + std::to_string(pivots.panels.size()) +
                          " panels for a matrix of " + extents(grid) + ", which has " +
                          std::to_string(grid.diagonal()));
  }
}

// Lower tiles in one task that exchanges rows in the factorization: fewer tasks than with fewer tiles, and more than
// one at a time.
constexpr std::uint64_t most_exchanged = 8;

// The row exchanges of panel k in tile column j of a matrix. Forward: the last task permutes the rows of the top tile;
// backward: the first one does.
template <class T>
void exchange_rows(TaskEmitter& tasks, TiledMatrix<T> const& a, std::uint64_t k, std::uint64_t j, DataId pivots,
                   SwapDirection direction, std::uint64_t group, std::int64_t priority,
                   std::span<Access const> turns = {}) {
  auto const& grid = a.grid();
  auto const end = grid.tile_rows();
  for (auto i = k + 1; i < end || i == k + 1; i += group) {
    std::vector<TileRef> lower;
    for (auto t = i; t < std::min(i + group, end); ++t) lower.push_back(a(t, j));
    auto const permute = direction == SwapDirection::Forward
                             ? (i + group >= end ? tiles::Permute::After : tiles::Permute::None)
                             : (i == k + 1 ? tiles::Permute::Before : tiles::Permute::None);
    tiles::swap_rows<T>(tasks.at(i, j, k), {a(k, j), lower, i * grid.tile, grid.tile, permute, turns}, pivots,
                        priority);
  }
}

}  // namespace granary::detail
