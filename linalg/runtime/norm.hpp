// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/algorithms/norms.hpp>
#include <granary/linalg/runtime/matrix_call.hpp>

namespace granary {

/// A norm of a matrix: max |a_ij| (Max), the largest column sum (One), the largest row sum (Infinity), the Frobenius
/// norm; xLANGE. Sums are taken in double precision. NaN if an element is NaN. Throws what Runtime::wait throws, and
/// InvalidArgument for a FileMatrix that was opened as one triangle.
template <MatrixOperand A>
[[nodiscard]] double lange(Runtime& runtime, Norm norm, A const& a, TileSize tile = {}) {
  double result = 0;
  detail::MatrixCall call(runtime, "lange");
  call.reads("A", a);
  call.prepare(tile);
  submit_lange(call.tasks(), norm, call.tiles(0, a), call.data().in_place("norm", result));
  call.finish();
  return result;
}

/// The same for a Hermitian matrix (symmetric if real) stored in the triangle `uplo`; xLANHE, xLANSY. Throws
/// InvalidArgument if A is not square, and what Runtime::wait throws.
template <MatrixOperand A>
[[nodiscard]] double lanhe(Runtime& runtime, Norm norm, Uplo uplo, A const& a, TileSize tile = {}) {
  double result = 0;
  detail::MatrixCall call(runtime, "lanhe");
  call.reads("A", a);
  call.require_square(0);
  call.prepare(tile);
  submit_lanhe(call.tasks(), norm, call.tiles(0, a, part_of(uplo)), call.data().in_place("norm", result));
  call.finish();
  return result;
}

}  // namespace granary
