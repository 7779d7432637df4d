// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/least_squares.hpp>
#include <granary/detail/linalg/algorithms/tall_qr.hpp>
#include <granary/detail/linalg/algorithms/tiled_least_squares.hpp>
#include <granary/detail/linalg/runtime/solve.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Least squares, and the triangle of a QR factorization: A has at least as many rows as columns, and is only read. The
/// functions in `granary::async` submit their tasks and return; those in
/// `granary` also wait. All throw InvalidArgument, with names and sizes, if their operands do not match. For one
/// process, on cores.
///
/// ```cpp
/// Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a("A", 1000, 2);
/// Kokkos::View<double*, Kokkos::HostSpace> b("b", 1000), x("x", 2);
/// for (std::size_t i = 0; i < 1000; ++i) {
///   a(i, 0) = 1;
///   a(i, 1) = 0.01 * double(i);
///   b(i) = 3 + 2 * a(i, 1);
/// }
/// granary::Runtime runtime;
/// auto const fit = granary::gels(runtime, a, b, x);  // A and b are unchanged
/// assert(std::abs(x(0) - 3) < 1e-10 && std::abs(x(1) - 2) < 1e-10);
/// assert(fit.residual_norms[0] < 1e-9 && fit.condition < 100);
/// ```
namespace granary {

namespace detail {

/// A temporary tile for a triangle of order n.
template <class T>
[[nodiscard]] TileRef temporary_triangle(MatrixCall& call, std::uint64_t n, std::string const& matrix) {
  auto const name = "triangle of " + matrix;
  TileGrid const grid{n, n, n};
  check_size(grid, sizeof(T));
  auto const add = [&](std::uint64_t, std::uint64_t) {
    return call.session().submitter().add_data({.name = name, .bytes = n * n * sizeof(T), .origin = {}, .home = {}});
  };
  return call.read_data().keep(TiledMatrix<T>(grid, MatrixPart::All, TileLayout::ColumnMajor, add).named(name))(0, 0);
}

}  // namespace detail

namespace async {

/// X := argmin ‖B - A X‖₂, column by column; xGELS for m >= n, but A and B are unchanged. A is m x n, B m x k, X n x k.
///
/// If n + k <= 256, or m >= 16 (n + k): by QR of [A B] without Q (TSQR), 2 m (n + k)² flops (8 if complex). Each row is
/// read once. Besides tiles of A and B, memory for at most 64 triangles of order n + k, in a quarter of the limit, and
/// for one more. Otherwise by a QR factorization of temporary copies of A and B, 2 n² (m - n/3) + 4 m n k flops;
/// LeastSquares::condition is then a lower bound, the largest ratio of a column to its part outside the span of those
/// before it, and RankDeficient has no other columns.
///
/// RankDeficient names the first column of A that is a combination of those before it up to rounding: what is left of
/// it is at most `tolerance` times the terms of the combination, by default 10 ε max(n, √min(m, 2¹⁴)). So conditions
/// above about 10¹³ are refused in double precision. With tolerance 0 only exact zeros are, as in LAPACK. X is
/// unchanged then. Views with NaN or infinity: see SolveOptions; NotFinite if numbers overflow.
template <MatrixOperand A, MatrixOperand B, MutableMatrix X>
requires SameScalars<A, B, X>
auto gels(RuntimeCall runtime, A const& a, B const& b, X const& x, detail::TileSize tile = {},
          std::optional<double> tolerance = {}, SolveOptions const& options = {}) -> Pending<LeastSquares> {
  return detail::matrix_call(runtime, "gels", [&](detail::MatrixCall& call) {
    using T = detail::ScalarOf<A>;
    auto const& of_a = call.reads("A", a);
    auto const& of_b = call.reads("B", b);
    auto const& of_x = call.writes("X", x);
    call.require_match(of_a.rows == of_b.rows && of_a.cols == of_x.rows && of_b.cols == of_x.cols);
    call.require_tall(0);
    call.session().refuse_with_others("rows cannot be folded into a triangle");
    call.prepare(tile);
    std::vector const sides{call.tiles(0, a), call.tiles(1, b)};
    auto const solution = call.tiles(2, x);
    auto const flags = detail::check_finite(call, options, false, a, sides[0], b, sides[1]);
    auto const cols = of_a.cols + of_b.cols;
    auto const least = tolerance.value_or(detail::rank_tolerance<T>(of_a.rows, of_a.cols));
    if (!detail::suits_tall_qr(of_a.rows, cols)) {
      auto const found = std::make_shared<detail::TiledLeastSquares>();
      found->data = call.data().in_place("residual of " + sides[1].name(), found->smallest, found);
      detail::submit_tiled_least_squares<T>(call.tasks(), sides[0], sides[1], least, solution, flags, found,
                                            call.memory());
      return Pending<LeastSquares>(call.submitted(), [found] { return found->result(); });
    }
    auto const triangle = detail::temporary_triangle<T>(call, cols, sides[0].name());
    detail::submit_tall_qr<T>(call.tasks(), sides, triangle, call.memory());
    auto const result = std::make_shared<LeastSquares>();
    detail::submit_solve_triangle<T>(call.tasks(), triangle, least, solution, flags, result);
    return Pending<LeastSquares>(call.submitted(), [result] { return *result; });
  });
}

/// R := the triangle of A = Q R, n x n with a diagonal that is not negative, and zeros below it: the Cholesky factor of
/// A^H A, without its loss of half the digits. A is m x n with m >= n and unchanged; each row is read once. 2 m n²
/// flops (8 if complex). Fast for m >= 16 n.
template <MatrixOperand A, MutableMatrix R>
requires SameScalars<A, R>
auto qr_r(RuntimeCall runtime, A const& a, R const& r, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "qr_r", [&](detail::MatrixCall& call) {
    using T = detail::ScalarOf<A>;
    auto const& of_a = call.reads("A", a);
    auto const& of_r = call.writes("R", r);
    call.require_match(of_a.cols == of_r.rows && of_a.cols == of_r.cols);
    call.require_tall(0);
    call.session().refuse_with_others("rows cannot be folded into a triangle");
    call.prepare(tile);
    std::vector const sides{call.tiles(0, a)};
    auto const result = call.tiles(1, r);
    auto const triangle = detail::temporary_triangle<T>(call, of_a.cols, sides[0].name());
    detail::submit_tall_qr<T>(call.tasks(), sides, triangle, call.memory());
    detail::submit_triangle<T>(call.tasks(), triangle, result);
    return call.submitted();
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A, MatrixOperand B, MutableMatrix X>
requires SameScalars<A, B, X> LeastSquares gels(RuntimeCall runtime, A const& a, B const& b, X const& x,
                                                detail::TileSize tile = {}, std::optional<double> tolerance = {},
                                                SolveOptions const& options = {}) {
  runtime.refuse_in_task("gels");
  return async::gels(runtime, a, b, x, tile, tolerance, options).get();
}

template <MatrixOperand A, MutableMatrix R>
requires SameScalars<A, R>
void qr_r(RuntimeCall runtime, A const& a, R const& r, detail::TileSize tile = {}) {
  runtime.refuse_in_task("qr_r");
  async::qr_r(runtime, a, r, tile).wait();
}

}  // namespace granary
