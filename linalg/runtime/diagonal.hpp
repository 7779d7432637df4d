// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/diagonal.hpp>
#include <granary/detail/linalg/runtime/matrix_call.hpp>

#include <algorithm>
#include <memory>

/// The diagonal of a matrix on a runtime, and the log-determinant that it gives: `granary::async` submits, `granary`
/// waits at once.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300);
/// granary::Runtime runtime;
/// granary::set(runtime, 0.0, 4.0, a);
/// granary::potrf(runtime, granary::Uplo::Lower, a);
/// Kokkos::View<double*, Kokkos::HostSpace> d("d", 300);
/// granary::diag(runtime, a, d);
/// assert(d(299) == 2.0);
/// double const log_determinant = granary::logdet(runtime, granary::Uplo::Lower, a);  // of A before the factorization
/// assert(std::abs(log_determinant - 300 * std::log(4.0)) < 1e-10);
/// ```
namespace granary {
namespace async {

/// d := the diagonal of A, of any shape and part. Throws InvalidArgument unless d is a column of min(m, n) elements.
template <MatrixOperand A, MutableMatrix D>
requires SameScalars<A, D>
auto diag(RuntimeCall runtime, A const& a, D const& d, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "diag", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", a);
    auto const& y = call.writes("d", d);
    call.require_match(y.cols == 1 && y.rows == std::min(x.rows, x.cols));
    call.prepare(tile);
    submit_diag(call.tasks(), call.tiles(0, a, x.part), call.tiles(1, d));
    return call.submitted();
  });
}

/// log det(A) = 2 Σ log l_ii of a Hermitian positive definite A, with its Cholesky factor, from potrf, in the triangle
/// `uplo`: the logarithm, since the determinant itself overflows. -infinity if a diagonal element is zero, NaN if one
/// is negative or NaN. Throws InvalidArgument if A is not square.
template <MatrixOperand A>
[[nodiscard]] Pending<double> logdet(RuntimeCall runtime, Uplo uplo, A const& a, detail::TileSize tile = {}) {
  auto const result = std::make_shared<double>(0);
  return detail::matrix_call(runtime, "logdet", [&](detail::MatrixCall& call) {
    call.reads("A", a);
    call.require_square(0);
    call.prepare(tile);
    auto const tiles = call.tiles(0, a, detail::part_of(uplo));
    auto const data = call.data().in_place("log-determinant of " + tiles.name(), result);
    submit_logdet(call.tasks(), tiles, data);
    return Pending<double>(call.submitted(call.data().shares(data, result)), [result] { return *result; });
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A, MutableMatrix D>
requires SameScalars<A, D>
void diag(RuntimeCall runtime, A const& a, D const& d, detail::TileSize tile = {}) {
  runtime.refuse_in_task("diag");
  async::diag(runtime, a, d, tile).wait();
}

template <MatrixOperand A>
[[nodiscard]] double logdet(RuntimeCall runtime, Uplo uplo, A const& a, detail::TileSize tile = {}) {
  runtime.refuse_in_task("logdet");
  return async::logdet(runtime, uplo, a, tile).get();
}

}  // namespace granary
