// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/residuals/residual.hpp>
#include <granary/detail/linalg/residuals/residual_tasks.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>

#include <algorithm>

namespace granary {
namespace {

using detail::Accumulators;
using detail::DifferenceSums;
using detail::TileRange;

// One tile of L U per call.
template <class T>
class LuProduct {
 public:
  LuProduct(TaskEmitter& tasks, detail::TiledMatrix<T> const& lu) : m_tasks(tasks), m_lu(lu) {}

  // R := L(i,k) U(k,j), k the smaller of i and j. On the diagonal, the square factor is the triangular operand; the
  // other one may be a trapezoid.
  void start(std::uint64_t i, std::uint64_t j, detail::TileRef const& r) {
    auto const part = i != j ? detail::Start::All : r.rows >= r.cols ? detail::Start::UnitLower : detail::Start::Upper;
    auto const k = std::min(i, j);
    detail::start<T>(m_tasks, part, m_lu(i, j), r);
    if (i > j || part == detail::Start::UnitLower) {
      tiles::trmm(m_tasks, Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), leading_square(m_lu(k, k)), r);
    } else {
      tiles::trmm(m_tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), leading_square(m_lu(k, k)), r);
    }
  }
  // R := R + L(i,k) U(k,j)
  void add(std::uint64_t i, std::uint64_t j, std::uint64_t k, detail::TileRef const& r) {
    tiles::gemm(m_tasks, Op::NoTrans, Op::NoTrans, T(1), m_lu(i, k), m_lu(k, j), T(1), r);
  }

 private:
  TaskEmitter& m_tasks;
  detail::TiledMatrix<T> const& m_lu;
};

// Whole tile columns of accumulators, with a tile row of U and some tiles of L.
std::uint64_t column_block(detail::TileGrid const& grid, Bytes tile_bytes, Bytes memory) {
  auto const tiles = memory / tile_bytes;
  auto const fitting = tiles > 4 ? (tiles - 4) / (grid.tile_rows() + 1) : 0;
  return std::clamp<std::uint64_t>(fitting, 1, grid.tile_cols());
}

}  // namespace

template <class T>
void submit_getrf_residual(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& lu,
                           detail::PivotData const* pivots, Bytes memory, detail::ResidualData const& results) {
  auto const& grid = a.grid();
  detail::require_fit("getrf_residual", grid == lu.grid(), {{"A", a}, {"the factors", lu}});
  detail::require_part("getrf_residual", {"A", a}, MatrixPart::All);
  detail::require_part("getrf_residual", {"the factors", lu}, MatrixPart::All);
  auto const square = residual_block(grid, detail::tile_bytes<T>(grid), memory);
  auto const block_rows = pivots != nullptr ? grid.tile_rows() : std::min(square, grid.tile_rows());
  auto const block_cols =
      pivots != nullptr ? column_block(grid, detail::tile_bytes<T>(grid), memory) : std::min(square, grid.tile_cols());
  Accumulators<T> r(tasks, grid, block_rows, block_cols);
  DifferenceSums<T> sums(tasks, grid);
  LuProduct<T> product(tasks, lu);
  detail::for_blocks(grid.tile_rows(), grid.tile_cols(), block_rows, block_cols, [&](TileRange rows, TileRange cols) {
    detail::accumulate(product, r, rows, cols, [](std::uint64_t, std::uint64_t) { return true; });
    if (pivots != nullptr)
      laswp(tasks, r.columns(cols.first, cols.last), *pivots, grid, detail::SwapDirection::Backward);
    for (auto i = rows.first; i < rows.last; ++i) {
      for (auto j = cols.first; j < cols.last; ++j) sums.add(j, a(i, j), r(i, j));
    }
  });
  sums.finish(results);
}

#define GRANARY_INSTANTIATE(T)                                                                                    \
  template void submit_getrf_residual(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, \
                                      detail::PivotData const*, Bytes, detail::ResidualData const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
