// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/residuals/residual.hpp>
#include <granary/linalg/runtime/factor.hpp>

/// The scaled residuals of LAPACK's own tests on a runtime, under its memory limit. Each call waits for its result;
/// LAPACK requires a result below 30. They throw InvalidArgument if operands do not match, and what Runtime::wait
/// throws.
namespace granary {

/// ‖A - L L^H‖₁ / (n ε ‖A‖₁) (Lower) or ‖A - U^H U‖₁ / (n ε ‖A‖₁) (Upper), of the triangles `uplo` of both; xPOT01.
template <MatrixOperand A, MatrixOperand F>
requires SameScalars<A, F>
[[nodiscard]] double potrf_residual(Runtime& runtime, Uplo uplo, A const& a, F const& factor, TileSize tile = {}) {
  double rest = 0;
  double norm = 0;
  detail::MatrixCall call(runtime, "potrf_residual");
  auto const& x = call.reads("A", a);
  auto const& y = call.reads(uplo == Uplo::Lower ? "L" : "U", factor);
  call.require_square(0);
  call.require_match(x.rows == y.rows && x.cols == y.cols);
  call.prepare(tile);
  submit_potrf_residual(call.tasks(), call.tiles(0, a, part_of(uplo)), call.tiles(1, factor, part_of(uplo)),
                        call.memory(), {call.data().in_place("residual", rest), call.data().in_place("norm", norm)});
  call.finish();
  return scaled_residual<ScalarOf<A>>(rest, norm, x.rows);
}

/// ‖P A - L U‖₁ / (n ε ‖A‖₁), n the columns of A; xGET01. `pivots` null: no row exchanges.
template <MatrixOperand A, MatrixOperand F>
requires SameScalars<A, F>
[[nodiscard]] double getrf_residual(Runtime& runtime, A const& a, F const& lu, Pivots const* pivots,
                                    TileSize tile = {}) {
  double rest = 0;
  double norm = 0;
  detail::MatrixCall call(runtime, "getrf_residual");
  auto const& x = call.reads("A", a);
  auto const& y = call.reads("LU", lu);
  call.require_match(x.rows == y.rows && x.cols == y.cols);
  if (pivots != nullptr) detail::require_pivots("getrf_residual", *pivots, x);
  call.prepare(pivots != nullptr ? pivots->grid().tile : tile);
  PivotData exchanges;
  if (pivots != nullptr) exchanges = detail::bind_pivots(call.data(), *pivots);
  submit_getrf_residual(call.tasks(), call.tiles(0, a), call.tiles(1, lu), pivots != nullptr ? &exchanges : nullptr,
                        call.memory(), {call.data().in_place("residual", rest), call.data().in_place("norm", norm)});
  call.finish();
  return scaled_residual<ScalarOf<A>>(rest, norm, x.cols);
}

namespace detail {

template <MatrixOperand A, MatrixOperand X, MatrixOperand B>
[[nodiscard]] double solve_residual(Runtime& runtime, Op op, MatrixPart part, A const& a, X const& x, B const& b,
                                    TileSize tile) {
  double rest = 0;
  double norm = 0;
  MatrixCall call(runtime, "solve_residual");
  auto const& matrix = call.reads("A", a, op);
  auto const& solution = call.reads("X", x);
  auto const& right = call.reads("B", b);
  call.require_match(matrix.op_cols() == solution.rows && matrix.op_rows() == right.rows &&
                     solution.cols == right.cols);
  call.prepare(tile);
  submit_solve_residual(call.tasks(), op, call.tiles(0, a, part), call.tiles(1, x), call.tiles(2, b), call.memory(),
                        {call.data().in_place("residual", rest), call.data().in_place("norm", norm)});
  call.finish();
  return scaled_residual<ScalarOf<A>>(rest, norm, 1);
}

}  // namespace detail

/// The maximum over the columns of ‖b - op(A) x‖₁ / (ε ‖op(A)‖₁ ‖x‖₁); xGET02.
template <MatrixOperand A, MatrixOperand X, MatrixOperand B>
requires SameScalars<A, X, B>
[[nodiscard]] double solve_residual(Runtime& runtime, Op op, A const& a, X const& x, B const& b, TileSize tile = {}) {
  return detail::solve_residual(runtime, op, MatrixPart::All, a, x, b, tile);
}

/// The same for a Hermitian matrix (symmetric if real) stored in the triangle `uplo`; xPOT02.
template <MatrixOperand A, MatrixOperand X, MatrixOperand B>
requires SameScalars<A, X, B>
[[nodiscard]] double solve_residual(Runtime& runtime, Uplo uplo, A const& a, X const& x, B const& b,
                                    TileSize tile = {}) {
  return detail::solve_residual(runtime, Op::NoTrans, part_of(uplo), a, x, b, tile);
}

}  // namespace granary
