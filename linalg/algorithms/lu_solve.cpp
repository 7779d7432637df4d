// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/algorithms/row_exchanges.hpp>

#include <string>

namespace granary {

using detail::exchange_rows;
using detail::extents;

template <class T>
void laswp(TaskEmitter& tasks, detail::TiledMatrix<T> const& b, detail::PivotData const& pivots,
           detail::TileGrid const& factored, detail::SwapDirection direction) {
  detail::require_part("laswp", {"B", b}, MatrixPart::All);
  detail::require_pivots("laswp", factored, pivots);
  if (b.grid().rows != factored.rows || b.grid().tile != factored.tile) {
    throw InvalidArgument("laswp cannot apply to a matrix of " + extents(b.grid()) + " with tiles of " +
                          std::to_string(b.grid().tile) + " the pivots of a matrix of " + extents(factored) +
                          " with tiles of " + std::to_string(factored.tile));
  }
  auto const panels = factored.diagonal();
  for (std::uint64_t j = 0; j < b.grid().tile_cols(); ++j) {
    for (std::uint64_t step = 0; step < panels; ++step) {
      auto const k = direction == detail::SwapDirection::Forward ? step : panels - 1 - step;
      exchange_rows(tasks, b, k, j, pivots.panels[k], direction, LuOptions{}.leaf_tiles, 0);
    }
  }
}

template <class T>
void getrs(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& lu, detail::PivotData const* pivots,
           detail::TiledMatrix<T> const& b) {
  auto const& grid = lu.grid();
  detail::require_part("getrs", {"A", lu}, MatrixPart::All);
  if (grid.rows != grid.cols || b.grid().rows != grid.rows || b.grid().tile != grid.tile) {
    throw InvalidArgument("getrs cannot solve with a matrix of " + extents(grid) + " in tiles of " +
                          std::to_string(grid.tile) + " for a right-hand side of " + extents(b.grid()) +
                          " in tiles of " + std::to_string(b.grid().tile));
  }
  if (op == Op::NoTrans) {
    if (pivots) laswp(tasks, b, *pivots, grid, detail::SwapDirection::Forward);
    trsm(tasks, Side::Left, Uplo::Lower, op, Diag::Unit, T(1), lu, b);
    trsm(tasks, Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), lu, b);
  } else {
    trsm(tasks, Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), lu, b);
    trsm(tasks, Side::Left, Uplo::Lower, op, Diag::Unit, T(1), lu, b);
    if (pivots) laswp(tasks, b, *pivots, grid, detail::SwapDirection::Backward);
  }
}

#define GRANARY_INSTANTIATE(T)                                                                                        \
  template void laswp(TaskEmitter&, detail::TiledMatrix<T> const&, detail::PivotData const&, detail::TileGrid const&, \
                      detail::SwapDirection);                                                                         \
  template void getrs(TaskEmitter&, Op, detail::TiledMatrix<T> const&, detail::PivotData const*,                      \
                      detail::TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
