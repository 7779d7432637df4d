// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/inverse.hpp>
#include <granary/detail/linalg/runtime/factor.hpp>

#include <algorithm>
#include <cstdint>

/// The inverse of a Hermitian positive definite matrix on a runtime, whole or its diagonal alone: `granary::async`
/// submits, `granary` waits at once.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300);
/// granary::Runtime runtime;
/// granary::set(runtime, 0.0, 4.0, a);
/// granary::potrf(runtime, granary::Uplo::Lower, a);
/// Kokkos::View<double*, Kokkos::HostSpace> d("d", 300);
/// granary::inverse_diag(runtime, granary::Uplo::Lower, a, d);  // reads the factor
/// granary::potri(runtime, granary::Uplo::Lower, a);            // overwrites it
/// assert(d(299) == 0.25 && a(299, 299) == 0.25);
/// ```
namespace granary {
namespace async {

/// Overwrites the Cholesky factor in the triangle `uplo` of A, from potrf, with that triangle of the inverse of the
/// factored matrix; xPOTRI. The other triangle is neither read nor written. 2n³/3 flops (8n³/3 if complex). Open a
/// FileMatrix with an output as that triangle.
///
/// Singular has the number of a diagonal element of the factor that is exactly zero; A is then partly overwritten.
template <MutableMatrix A>
Pending<> potri(RuntimeCall runtime, Uplo uplo, A const& a, detail::TileSize tile = {}) {
  return detail::matrix_call(runtime, "potri", [&](detail::MatrixCall& call) {
    call.writes("A", a);
    call.require_square(0);
    call.require_whole_output(a, detail::part_of(uplo));
    call.prepare(tile);
    auto const tiles = call.tiles(0, a, detail::part_of(uplo));
    granary::potri(call.tasks(), tiles,
                   std::max<std::uint64_t>(1, call.choose_stack(0, detail::MatrixTraits<A>::is_view, tiles.grid())));
    return call.submitted();
  });
}

/// d := the diagonal of A⁻¹, with A's Cholesky factor, from potrf, in the triangle `uplo`: for example the variances of
/// estimates, or of predictions that leave one observation out. The factor is only read. n³/3 flops (4n³/3), half of
/// potri's; temporary tiles: of a View a few tile columns, otherwise up to half of the memory limit. If complex, d is
/// real all the same.
///
/// Singular as of potri. Throws InvalidArgument unless A is square and d a column of as many elements.
template <MatrixOperand A, MutableMatrix D>
requires SameScalars<A, D>
auto inverse_diag(RuntimeCall runtime, Uplo uplo, A const& factor, D const& d, detail::TileSize tile = {})
    -> Pending<> {
  return detail::matrix_call(runtime, "inverse_diag", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", factor);
    auto const& y = call.writes("d", d);
    call.require_square(0);
    call.require_match(y.cols == 1 && y.rows == x.rows);
    call.prepare(tile);
    // A View is read in memory as often as needed.
    Bytes const memory = detail::MatrixTraits<A>::is_view ? 0 : call.memory();
    submit_inverse_diag(call.tasks(), call.tiles(0, factor, detail::part_of(uplo)), call.tiles(1, d), memory);
    return call.submitted();
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MutableMatrix A>
void potri(RuntimeCall runtime, Uplo uplo, A const& a, detail::TileSize tile = {}) {
  runtime.refuse_in_task("potri");
  async::potri(runtime, uplo, a, tile).wait();
}

template <MatrixOperand A, MutableMatrix D>
requires SameScalars<A, D>
void inverse_diag(RuntimeCall runtime, Uplo uplo, A const& factor, D const& d, detail::TileSize tile = {}) {
  runtime.refuse_in_task("inverse_diag");
  async::inverse_diag(runtime, uplo, factor, d, tile).wait();
}

}  // namespace granary
