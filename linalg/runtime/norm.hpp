// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/runtime/matrix_call.hpp>

#include <memory>

/// Norms on a runtime: `granary::async` submits, and Pending::get waits and returns the norm; `granary` waits at once.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 200);
/// Kokkos::deep_copy(a, 0.5);
/// granary::Runtime runtime;
/// assert(granary::lange(runtime, granary::Norm::One, a) == 150.0);  // the largest column sum
/// auto norm = granary::async::lange(runtime, granary::Norm::Max, a);
/// assert(norm.get() == 0.5);
/// ```
namespace granary {
namespace async {

/// A norm of a matrix: max |a_ij| (Max), the largest column sum (One), the largest row sum (Infinity), the Frobenius
/// norm; xLANGE. Sums are taken in double precision. NaN if an element is NaN. Throws
/// InvalidArgument for a FileMatrix that was opened as one triangle.
template <MatrixOperand A>
[[nodiscard]] Pending<double> lange(RuntimeCall runtime, Norm norm, A const& a, detail::TileSize tile = {}) {
  auto const result = std::make_shared<double>(0);
  return detail::matrix_call(runtime, "lange", [&](detail::MatrixCall& call) {
    call.reads("A", a);
    call.prepare(tile);
    auto const tiles = call.tiles(0, a);
    auto const data = call.data().in_place("norm of " + tiles.name(), result);
    submit_lange(call.tasks(), norm, tiles, data);
    return Pending<double>(call.submitted(call.data().shares(data, result)), [result] { return *result; });
  });
}

/// The same for a Hermitian matrix (symmetric if real) stored in the triangle `uplo`; xLANHE, xLANSY. Throws
/// InvalidArgument if A is not square.
template <MatrixOperand A>
[[nodiscard]] Pending<double> lanhe(RuntimeCall runtime, Norm norm, Uplo uplo, A const& a, detail::TileSize tile = {}) {
  auto const result = std::make_shared<double>(0);
  return detail::matrix_call(runtime, "lanhe", [&](detail::MatrixCall& call) {
    call.reads("A", a);
    call.require_square(0);
    call.prepare(tile);
    auto const tiles = call.tiles(0, a, detail::part_of(uplo));
    auto const data = call.data().in_place("norm of " + tiles.name(), result);
    submit_lanhe(call.tasks(), norm, tiles, data);
    return Pending<double>(call.submitted(call.data().shares(data, result)), [result] { return *result; });
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A>
[[nodiscard]] double lange(RuntimeCall runtime, Norm norm, A const& a, detail::TileSize tile = {}) {
  runtime.refuse_in_task("lange");
  return async::lange(runtime, norm, a, tile).get();
}

template <MatrixOperand A>
[[nodiscard]] double lanhe(RuntimeCall runtime, Norm norm, Uplo uplo, A const& a, detail::TileSize tile = {}) {
  runtime.refuse_in_task("lanhe");
  return async::lanhe(runtime, norm, uplo, a, tile).get();
}

}  // namespace granary
