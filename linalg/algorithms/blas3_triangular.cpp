// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/left_triangle.hpp>
#include <granary/detail/linalg/tiles/trsm.hpp>

namespace granary {
namespace {

using detail::LeftTriangle;

template <class T>
void check(char const* algorithm, Side side, Uplo uplo, detail::TiledMatrix<T> const& a,
           detail::TiledMatrix<T> const& b) {
  auto const order = side == Side::Left ? b.grid().rows : b.grid().cols;
  detail::require_fit(algorithm, a.grid().rows == order && a.grid().cols == order, {{"A", a}, {"B", b}});
  detail::require_part(algorithm, {"A", a}, detail::part_of(uplo));
  detail::require_part(algorithm, {"B", b}, MatrixPart::All);
  detail::require_distinct(algorithm, "A", a, "B", b);
}

// B := 0, without reading the values of A.
template <class T>
void clear(TaskEmitter& tasks, LeftTriangle<T> const& problem) {
  auto const& [a, b, uplo, op, op_of_a, op_is_lower] = problem;
  for (std::uint64_t i = 0; i < b.grid().tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < b.grid().tile_cols(); ++j) {
      tiles::trmm(tasks.at(i, j), Side::Left, uplo, op, Diag::NonUnit, T(0), a(i, i), b(i, j));
    }
  }
}

}  // namespace

template <class T>
void trsm(TaskEmitter& tasks, Side side, Uplo uplo_a, Op op_a, Diag diag, T alpha,
          detail::TiledMatrix<T> const& matrix_a, detail::TiledMatrix<T> const& matrix_b) {
  check("trsm", side, uplo_a, matrix_a, matrix_b);
  LeftTriangle<T> const problem(side, uplo_a, op_a, matrix_a, matrix_b);
  if (alpha == T(0)) return clear(tasks, problem);
  tiles::trsm(tasks, problem, diag, alpha);
}

template <class T>
void trmm(TaskEmitter& tasks, Side side, Uplo uplo_a, Op op_a, Diag diag, T alpha,
          detail::TiledMatrix<T> const& matrix_a, detail::TiledMatrix<T> const& matrix_b) {
  check("trmm", side, uplo_a, matrix_a, matrix_b);
  LeftTriangle<T> const problem(side, uplo_a, op_a, matrix_a, matrix_b);
  if (alpha == T(0)) return clear(tasks, problem);
  auto const& [a, b, uplo, op, op_of_a, op_is_lower] = problem;
  auto const steps = b.grid().tile_rows();
  // The row that reads most rows is first: the last row of a lower triangle, the first of an upper one.
  auto const row = [&](std::uint64_t step) { return problem.op_is_lower ? steps - 1 - step : step; };
  for (std::uint64_t s = 0; s < steps; ++s) {
    auto const i = row(s);
    for (std::uint64_t j = 0; j < b.grid().tile_cols(); ++j) {
      // B(i,j) := alpha op(A)(i,i) B(i,j)
      tiles::trmm(tasks.at(i, j, i), Side::Left, uplo, op, diag, alpha, a(i, i), b(i, j));
      for (std::uint64_t later = s + 1; later < steps; ++later) {
        auto const k = row(later);
        // B(i,j) := B(i,j) + alpha op(A)(i,k) B(k,j)
        tiles::gemm(tasks.at(i, j, k), op, Op::NoTrans, alpha, op_of_a(i, k), b(k, j), T(1), b(i, j));
      }
    }
  }
}

#define GRANARY_INSTANTIATE(T)                                                             \
  template void trsm(TaskEmitter&, Side, Uplo, Op, Diag, T, detail::TiledMatrix<T> const&, \
                     detail::TiledMatrix<T> const&);                                       \
  template void trmm(TaskEmitter&, Side, Uplo, Op, Diag, T, detail::TiledMatrix<T> const&, \
                     detail::TiledMatrix<T> const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
