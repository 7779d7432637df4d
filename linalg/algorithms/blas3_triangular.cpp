// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>

namespace granary {
namespace {

using detail::OpTiles;

template <class T>
void check(char const* algorithm, Side side, Uplo uplo, TiledMatrix<T> const& a, TiledMatrix<T> const& b) {
  auto const order = side == Side::Left ? b.grid().rows : b.grid().cols;
  detail::require_fit(algorithm, a.grid().rows == order && a.grid().cols == order, {{"A", a}, {"B", b}});
  detail::require_part(algorithm, {"A", a}, part_of(uplo));
  detail::require_part(algorithm, {"B", b}, MatrixPart::All);
  detail::require_distinct(algorithm, "A", a, "B", b);
}

// A triangular A on the left of B. A on the right of B is on the left of B^T, which has the same bytes: (B op(A))^T =
// op(A^T) B^T for each of the three ops.
template <class T>
struct LeftTriangle {
  LeftTriangle(Side side, Uplo stored, Op operation, TiledMatrix<T> const& triangle, TiledMatrix<T> const& rhs)
      : a(side == Side::Left ? triangle : triangle.transposed()),
        b(side == Side::Left ? rhs : rhs.transposed()),
        uplo(side == Side::Left ? stored : flip(stored)),
        op(operation),
        op_of_a(op, a),
        op_is_lower((uplo == Uplo::Lower) == (op == Op::NoTrans)) {}
  LeftTriangle(LeftTriangle const&) = delete;
  LeftTriangle& operator=(LeftTriangle const&) = delete;

  TiledMatrix<T> a, b;
  Uplo uplo;
  Op op;
  OpTiles<T> op_of_a;
  bool op_is_lower;
};

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

// Bottom levels in a solve of `count` steps, with time 1 for a solve and 2 for an update. The longest path from a solve
// leads through the update of the next step's tile; from an update, through the later updates of its tile and the
// tile's solve.
struct SolveLevels {
  std::uint64_t count;
  [[nodiscard]] std::int64_t solve(std::uint64_t step) const {
    return static_cast<std::int64_t>(1 + 3 * (count - 1 - step));
  }
  [[nodiscard]] std::int64_t update(std::uint64_t later, std::uint64_t step) const {
    return static_cast<std::int64_t>(2 * (later - step)) + solve(later);
  }
};

}  // namespace

template <class T>
void trsm(TaskEmitter& tasks, Side side, Uplo uplo_a, Op op_a, Diag diag, T alpha, TiledMatrix<T> const& matrix_a,
          TiledMatrix<T> const& matrix_b) {
  check("trsm", side, uplo_a, matrix_a, matrix_b);
  LeftTriangle<T> const problem(side, uplo_a, op_a, matrix_a, matrix_b);
  if (alpha == T(0)) return clear(tasks, problem);
  auto const& [a, b, uplo, op, op_of_a, op_is_lower] = problem;
  auto const steps = b.grid().tile_rows();
  auto const cols = b.grid().tile_cols();
  auto const row = [&](std::uint64_t step) { return problem.op_is_lower ? step : steps - 1 - step; };
  SolveLevels const levels{steps};
  for (std::uint64_t s = 0; s < steps; ++s) {
    auto const k = row(s);
    // Every tile of B is scaled by alpha in the first step.
    T const scale = s == 0 ? alpha : T(1);
    for (std::uint64_t j = 0; j < cols; ++j) {
      // B(k,j) := op(A)(k,k)^-1 B(k,j)
      tiles::trsm(tasks.at(k, j, k), Side::Left, uplo, op, diag, scale, a(k, k), b(k, j), levels.solve(s));
    }
    for (std::uint64_t later = s + 1; later < steps; ++later) {
      auto const i = row(later);
      for (std::uint64_t j = 0; j < cols; ++j) {
        // B(i,j) := B(i,j) - op(A)(i,k) B(k,j)
        tiles::gemm(tasks.at(i, j, k), op, Op::NoTrans, T(-1), op_of_a(i, k), b(k, j), scale, b(i, j),
                    levels.update(later, s));
      }
    }
  }
}

template <class T>
void trmm(TaskEmitter& tasks, Side side, Uplo uplo_a, Op op_a, Diag diag, T alpha, TiledMatrix<T> const& matrix_a,
          TiledMatrix<T> const& matrix_b) {
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

#define GRANARY_INSTANTIATE(T)                                                                             \
  template void trsm(TaskEmitter&, Side, Uplo, Op, Diag, T, TiledMatrix<T> const&, TiledMatrix<T> const&); \
  template void trmm(TaskEmitter&, Side, Uplo, Op, Diag, T, TiledMatrix<T> const&, TiledMatrix<T> const&);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace granary
