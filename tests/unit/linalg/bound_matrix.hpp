// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/tiled_matrix.hpp>

#include "unit/linalg/dense.hpp"
#include "unit/linalg/immediate_submitter.hpp"

namespace granary::testing {

/// The stored triangle of a dense matrix as tiles in place.
template <class T>
detail::TiledMatrix<T> bind_dense(ImmediateSubmitter& submitter, Dense<T>& a, std::uint64_t tile, Uplo stored) {
  auto const grid = square_grid(a.n, tile);
  return {grid, detail::part_of(stored), detail::TileLayout::ColumnMajor, a.ld, [&](std::uint64_t i, std::uint64_t j) {
            return submitter.bind(detail::tile_name("A", i, j), sizeof(T), &a(grid.first(i), grid.first(j)));
          }};
}

}  // namespace granary::testing
