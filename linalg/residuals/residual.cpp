// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/residuals/residual.hpp>
#include <granary/detail/linalg/residuals/residual_tasks.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>

#include <limits>

namespace granary {
namespace {

using detail::Accumulators;
using detail::ColumnSums;
using detail::DifferenceSums;
using detail::TileRange;

detail::TileRef transposed(detail::TileRef const& tile) { return {tile.transposed(), tile.data}; }

// One tile of L L^H per call, with L the lower form of the factor: see CholeskyTasks.
template <class T>
class CholeskyProduct {
 public:
  CholeskyProduct(TaskEmitter& tasks, detail::TiledMatrix<T> const& l) : m_tasks(tasks), m_l(l) {}

  // R := L(i,j) L(j,j)^H
  void start(std::uint64_t i, std::uint64_t j, detail::TileRef const& r) {
    detail::start<T>(m_tasks, i == j ? detail::Start::Lower : detail::Start::All, m_l(i, j), r);
    tiles::trmm(m_tasks, Side::Right, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, T(1), m_l(j, j), r);
  }
  // R := R + L(i,k) L(j,k)^H
  void add(std::uint64_t i, std::uint64_t j, std::uint64_t k, detail::TileRef const& r) {
    if (i == j) {
      tiles::herk<T>(m_tasks, Uplo::Lower, Op::NoTrans, 1, m_l(i, k), 1, r);
    } else {
      tiles::gemm(m_tasks, Op::NoTrans, Op::ConjTrans, T(1), m_l(i, k), m_l(j, k), T(1), r);
    }
  }

 private:
  TaskEmitter& m_tasks;
  detail::TiledMatrix<T> const& m_l;
};

}  // namespace

std::uint64_t residual_block(detail::TileGrid const& grid, Bytes tile_bytes, Bytes memory) {
  std::uint64_t block = 1;
  auto const tiles = memory / tile_bytes;
  auto const most = std::max(grid.tile_rows(), grid.tile_cols());
  while (block < most && (block + 1) * (block + 1) + 4 * (block + 1) <= tiles) ++block;
  return block;
}

template <class T>
void submit_potrf_residual(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& factor,
                           Bytes memory, detail::ResidualData const& results) {
  auto const& grid = a.grid();
  detail::require_fit("potrf_residual", grid == factor.grid() && grid.rows == grid.cols,
                      {{"A", a}, {"the factor", factor}});
  if (factor.part() == MatrixPart::All) throw InvalidArgument("potrf_residual needs a triangular factor");
  detail::require_part("potrf_residual", {"A", a}, factor.part());
  bool const lower = factor.part() == MatrixPart::Lower;
  auto const lower_a = lower ? a : a.transposed();
  auto const lower_l = lower ? factor : factor.transposed();
  auto const count = grid.tile_rows();
  auto const block = residual_block(grid, detail::tile_bytes<T>(grid), memory);
  Accumulators<T> r(tasks, grid, block, block);
  DifferenceSums<T> sums(tasks, grid);
  CholeskyProduct<T> product(tasks, lower_l);
  detail::for_blocks(count, count, block, block, [&](TileRange rows, TileRange cols) {
    if (cols.first > rows.first) return;
    detail::accumulate(product, r, rows, cols, [](std::uint64_t i, std::uint64_t j) { return i >= j; });
    for (auto i = rows.first; i < rows.last; ++i) {
      for (auto j = cols.first; j < std::min(cols.last, i); ++j) {
        sums.add(j, lower_a(i, j), r(i, j));
        sums.add(i, transposed(lower_a(i, j)), transposed(r(i, j)));
      }
      if (i >= cols.first && i < cols.last) sums.add(i, lower_a(i, i), r(i, i), MatrixPart::Lower);
    }
  });
  sums.finish(results);
}

namespace {

// A tile of op(A): the stored tile, which may have to be transposed.
struct LeftTile {
  detail::TileRef tile;
  Op op;
  MatrixPart stored = MatrixPart::All;  // a triangle for a Hermitian tile
};
template <class T>
LeftTile left_tile(detail::TiledMatrix<T> const& a, Op op, std::uint64_t i, std::uint64_t k) {
  if (a.part() == MatrixPart::All) return {op == Op::NoTrans ? a(i, k) : a(k, i), op};
  if (i == k) return {a(i, i), Op::NoTrans, a.part()};
  if (holds(a.part(), i, k)) return {a(i, k), Op::NoTrans};
  return {a(k, i), Op::ConjTrans};
}

// R := [R +] op(A)(i,k) X(k,j)
template <class T>
void multiply(TaskEmitter& tasks, LeftTile const& a, detail::TileRef const& x, bool first, detail::TileRef const& r) {
  T const beta = first ? T(0) : T(1);
  if (a.stored == MatrixPart::All) {
    tiles::gemm(tasks, a.op, Op::NoTrans, T(1), a.tile, x, beta, r);
  } else {
    auto const uplo = a.stored == MatrixPart::Lower ? Uplo::Lower : Uplo::Upper;
    tiles::hemm(tasks, Side::Left, uplo, T(1), a.tile, x, beta, r);
  }
}

template <class T>
void check_solve(Op op, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& x,
                 detail::TiledMatrix<T> const& b) {
  constexpr char const* name = "solve_residual";
  auto const shape = detail::op_grid(op, a.grid());
  bool const fit = shape.cols == x.grid().rows && shape.rows == b.grid().rows && x.grid().cols == b.grid().cols &&
                   (a.part() == MatrixPart::All || shape.rows == shape.cols);
  detail::require_fit(name, fit, {{op == Op::NoTrans ? "A" : "A, transposed,", a}, {"X", x}, {"B", b}});
  if (x.part() != MatrixPart::All || b.part() != MatrixPart::All) {
    throw InvalidArgument("solve_residual needs all of X and B, not a triangle");
  }
  if (a.part() != MatrixPart::All && detail::is_complex<T> && op == Op::Trans) {
    throw InvalidArgument(
        "solve_residual does not cover the transpose of a Hermitian matrix; its conjugate transpose "
        "is the matrix itself");
  }
}

}  // namespace

template <class T>
void submit_solve_residual(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& x,
                           detail::TiledMatrix<T> const& b, Bytes memory, detail::ResidualData const& results) {
  check_solve(op, a, x, b);
  if (!results.columns.empty() && results.columns.size() != b.grid().tile_cols()) {
    throw InvalidArgument("solve_residual has data for " + std::to_string(results.columns.size()) +
                          " tile columns, and X has " + std::to_string(b.grid().tile_cols()));
  }
  auto const& grid = b.grid();
  auto const inner = x.grid().tile_rows();
  auto const block = residual_block(grid, detail::tile_bytes<T>(grid), memory);
  auto const block_rows = std::min(block, grid.tile_rows());
  auto const block_cols = std::min(block, grid.tile_cols());
  Accumulators<T> r(tasks, grid, block_rows, block_cols);
  ColumnSums<T> residual(tasks, grid);
  ColumnSums<T> solution(tasks, grid);
  ColumnSums<T> matrix(tasks, {grid.rows, x.grid().rows, grid.tile});
  detail::for_blocks(grid.tile_rows(), grid.tile_cols(), block_rows, block_cols, [&](TileRange rows, TileRange cols) {
    for (std::uint64_t k = 0; k < inner; ++k) {
      for (auto i = rows.first; i < rows.last; ++i) {
        auto const left = left_tile(a, op, i, k);
        for (auto j = cols.first; j < cols.last; ++j) multiply<T>(tasks, left, x(k, j), k == 0, r(i, j));
        if (cols.first > 0) continue;
        matrix.add(k, left.op == Op::NoTrans ? left.tile : transposed(left.tile), left.stored);
      }
      if (rows.first > 0) continue;
      for (auto j = cols.first; j < cols.last; ++j) solution.add(j, x(k, j));
    }
    for (auto i = rows.first; i < rows.last; ++i) {
      for (auto j = cols.first; j < cols.last; ++j) residual.add_difference(j, b(i, j), r(i, j));
    }
  });
  residual.largest_quotient(solution, results.residual);
  if (!results.columns.empty()) residual.quotients(solution, results.columns);
  matrix.largest(results.norm);
}

template <class T>
double scaled_residual(double residual, double norm, std::uint64_t n) {
  constexpr double epsilon = std::numeric_limits<detail::RealOf<T>>::epsilon() / 2;
  if (residual == 0) return 0;
  if (norm == 0) return 1 / epsilon;
  return residual / norm / static_cast<double>(n) / epsilon;
}

#define GRANARY_INSTANTIATE(T)                                                                                        \
  template void submit_potrf_residual(TaskEmitter&, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&,     \
                                      Bytes, detail::ResidualData const&);                                            \
  template void submit_solve_residual(TaskEmitter&, Op, detail::TiledMatrix<T> const&, detail::TiledMatrix<T> const&, \
                                      detail::TiledMatrix<T> const&, Bytes, detail::ResidualData const&);             \
  template double scaled_residual<T>(double, double, std::uint64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
