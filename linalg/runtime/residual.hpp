// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/residuals/residual.hpp>
#include <granary/detail/linalg/runtime/factor.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

/// The scaled residuals of LAPACK's own tests on a runtime, under its memory limit; LAPACK requires a result below 30.
/// The functions in `granary::async` submit their tasks, and Pending::get waits and returns the residual; those in
/// `granary` wait at once. All throw InvalidArgument if operands do not match.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300), l("L", 300, 300);
/// granary::Runtime runtime;
/// granary::set(runtime, 1.0, 400.0, a);
/// granary::copy(runtime, a, l);
/// granary::potrf(runtime, granary::Uplo::Lower, l);
/// assert(granary::potrf_residual(runtime, granary::Uplo::Lower, a, l) < 30);
/// ```
namespace granary {
namespace detail {

/// The memory of a residual's ResidualData.
class GRANARY_EXPORT ResidualParts {
 public:
  ResidualParts(DataScope& scope, std::string const& result)
      : m_data{scope.in_place("residual of " + result, m_rest), scope.in_place("norm of " + result, m_norm)},
        m_shares{scope.shares(m_data.residual, m_rest), scope.shares(m_data.norm, m_norm)} {}

  [[nodiscard]] ResidualData const& data() const { return m_data; }
  /// The result of the call, for a matrix of order n.
  template <class T>
  [[nodiscard]] Pending<double> result(MatrixCall& call, std::uint64_t n) const {
    return {call.submitted([shares = m_shares] {
              for (auto const& share : shares) share();
            }),
            [rest = m_rest, norm = m_norm, n] { return scaled_residual<T>(*rest, *norm, n); }};
  }

 private:
  std::shared_ptr<double> m_rest = std::make_shared<double>(0), m_norm = std::make_shared<double>(0);
  ResidualData m_data;
  std::array<std::function<void()>, 2> m_shares;
};

}  // namespace detail

namespace async {

/// ‖A - L L^H‖₁ / (n ε ‖A‖₁) (Lower) or ‖A - U^H U‖₁ / (n ε ‖A‖₁) (Upper), of the triangles `uplo` of both; xPOT01.
template <MatrixOperand A, MatrixOperand F>
requires SameScalars<A, F>
[[nodiscard]] Pending<double> potrf_residual(RuntimeCall runtime, Uplo uplo, A const& a, F const& factor,
                                             detail::TileSize tile = {}) {
  return detail::matrix_call(runtime, "potrf_residual", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.reads(uplo == Uplo::Lower ? "L" : "U", factor);
    call.require_square(0);
    call.require_match(x.rows == y.rows && x.cols == y.cols);
    call.prepare(tile);
    auto const tiles = call.tiles(1, factor, detail::part_of(uplo));
    detail::ResidualParts const parts(call.data(), tiles.name());
    submit_potrf_residual(call.tasks(), call.tiles(0, a, detail::part_of(uplo)), tiles, call.memory(), parts.data());
    return parts.result<detail::ScalarOf<A>>(call, x.rows);
  });
}

/// ‖P A - L U‖₁ / (n ε ‖A‖₁), n the columns of A; xGET01. `pivots` null: no row exchanges.
template <MatrixOperand A, MatrixOperand F>
requires SameScalars<A, F>
[[nodiscard]] Pending<double> getrf_residual(RuntimeCall runtime, A const& a, F const& lu, Pivots const* pivots,
                                             detail::TileSize tile = {}) {
  return detail::matrix_call(runtime, "getrf_residual", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.reads("LU", lu);
    call.require_match(x.rows == y.rows && x.cols == y.cols);
    if (pivots != nullptr) call.require_pivots(0, pivots->grid());
    call.prepare(pivots != nullptr ? pivots->grid().tile : tile);
    auto const tiles = call.tiles(1, lu);
    detail::PivotData exchanges;
    if (pivots != nullptr) exchanges = detail::bind_pivots(call.read_data(), *pivots, tiles.name());
    detail::ResidualParts const parts(call.data(), tiles.name());
    submit_getrf_residual(call.tasks(), call.tiles(0, a), tiles, pivots != nullptr ? &exchanges : nullptr,
                          call.memory(), parts.data());
    return parts.result<detail::ScalarOf<A>>(call, x.cols);
  });
}

}  // namespace async

namespace detail {

template <MatrixOperand A, MatrixOperand X, MatrixOperand B>
[[nodiscard]] Pending<double> solve_residual(RuntimeCall runtime, Op op, MatrixPart part, A const& a, X const& x,
                                             B const& b, TileSize tile) {
  return matrix_call(runtime, "solve_residual", [&](MatrixCall& call) {
    auto const& matrix = call.reads("A", a, op);
    auto const& solution = call.reads("X", x);
    auto const& right = call.reads("B", b);
    call.require_match(matrix.op_cols() == solution.rows && matrix.op_rows() == right.rows &&
                       solution.cols == right.cols);
    call.prepare(tile);
    auto const tiles = call.tiles(1, x);
    ResidualParts const parts(call.data(), tiles.name());
    submit_solve_residual(call.tasks(), op, call.tiles(0, a, part), tiles, call.tiles(2, b), call.memory(),
                          parts.data());
    return parts.result<ScalarOf<A>>(call, 1);
  });
}

}  // namespace detail

namespace async {

/// The maximum over the columns of ‖b - op(A) x‖₁ / (ε ‖op(A)‖₁ ‖x‖₁); xGET02.
template <MatrixOperand A, MatrixOperand X, MatrixOperand B>
requires SameScalars<A, X, B>
[[nodiscard]] Pending<double> solve_residual(RuntimeCall runtime, Op op, A const& a, X const& x, B const& b,
                                             detail::TileSize tile = {}) {
  return detail::solve_residual(runtime, op, MatrixPart::All, a, x, b, tile);
}

/// The same for a Hermitian matrix (symmetric if real) stored in the triangle `uplo`; xPOT02.
template <MatrixOperand A, MatrixOperand X, MatrixOperand B>
requires SameScalars<A, X, B>
[[nodiscard]] Pending<double> solve_residual(RuntimeCall runtime, Uplo uplo, A const& a, X const& x, B const& b,
                                             detail::TileSize tile = {}) {
  return detail::solve_residual(runtime, Op::NoTrans, detail::part_of(uplo), a, x, b, tile);
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A, MatrixOperand F>
requires SameScalars<A, F>
[[nodiscard]] double potrf_residual(RuntimeCall runtime, Uplo uplo, A const& a, F const& factor,
                                    detail::TileSize tile = {}) {
  runtime.refuse_in_task("potrf_residual");
  return async::potrf_residual(runtime, uplo, a, factor, tile).get();
}

template <MatrixOperand A, MatrixOperand F>
requires SameScalars<A, F>
[[nodiscard]] double getrf_residual(RuntimeCall runtime, A const& a, F const& lu, Pivots const* pivots,
                                    detail::TileSize tile = {}) {
  runtime.refuse_in_task("getrf_residual");
  return async::getrf_residual(runtime, a, lu, pivots, tile).get();
}

template <class OpOrUplo, MatrixOperand A, MatrixOperand X, MatrixOperand B>
requires SameScalars<A, X, B>
[[nodiscard]] double solve_residual(RuntimeCall runtime, OpOrUplo op, A const& a, X const& x, B const& b,
                                    detail::TileSize tile = {}) {
  runtime.refuse_in_task("solve_residual");
  return async::solve_residual(runtime, op, a, x, b, tile).get();
}

}  // namespace granary
