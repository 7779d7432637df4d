// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/linalg/algorithms/blas3.hpp>
#include <granary/linalg/runtime/factor.hpp>

/// Solves of linear systems on a runtime. B holds the right-hand sides, any number of columns, and afterwards the
/// solutions. Each call waits for its result. It throws InvalidArgument, with names and sizes and before anything is
/// changed, if its operands do not match, and what Runtime::wait throws.
namespace granary {

/// Options of posv, gesv, posv_mixed and gesv_mixed.
struct GRANARY_EXPORT SolveOptions {
  /// Refuses Views that hold NaN or infinity with InvalidArgument, which names the first such element, before anything
  /// is changed. Reads A and B once at the speed of memory: 5 % of the processor time of a solve of order 500, 1 to 4 %
  /// of orders from 1000 to 4000, a share that falls with 1/n. Without the check such elements go through the
  /// arithmetic as in LAPACK. Elements of files are always checked, when they are read.
  bool check_finite = true;
};

namespace detail {

/// Throws what Runtime::wait throws, and InvalidArgument if A or B is a View with NaN or infinity.
template <class A, class B, class T>
void require_finite(MatrixCall& call, SolveOptions const& options, bool hermitian, A const& a,
                    TiledMatrix<T> const& a_tiles, B const& b, TiledMatrix<T> const& b_tiles) {
  if (!options.check_finite || !(MatrixTraits<A>::is_view || MatrixTraits<B>::is_view)) return;
  call.look_for_nan(0, a, a_tiles, hermitian);
  call.look_for_nan(1, b, b_tiles);
  call.runtime().wait();
}

}  // namespace detail

/// B := A^-1 B with the Cholesky factor from potrf in the triangle `uplo`; xPOTRS.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void potrs(Runtime& runtime, Uplo uplo, A const& factor, B const& b, TileSize tile = {}) {
  detail::MatrixCall call(runtime, "potrs");
  auto const& x = call.reads("A", factor);
  auto const& y = call.writes("B", b);
  call.require_square(0);
  call.require_match(x.rows == y.rows);
  call.prepare(tile);
  potrs(call.tasks(), call.tiles(0, factor, part_of(uplo)), call.tiles(1, b));
  call.finish();
}

/// Solves A X = B with A Hermitian positive definite; overwrites its triangle `uplo` with the Cholesky factor, and B
/// with X; xPOSV. The solve starts while the factorization runs.
///
/// Throws NotPositiveDefinite like potrf; A and B are then partly overwritten. Views with NaN or infinity: see
/// SolveOptions.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
void posv(Runtime& runtime, Uplo uplo, A const& a, B const& b, TileSize tile = {}, CholeskyOptions const& options = {},
          SolveOptions const& solve_options = {}) {
  detail::MatrixCall call(runtime, "posv");
  auto const& x = call.writes("A", a);
  auto const& y = call.writes("B", b);
  call.require_square(0);
  call.require_match(x.rows == y.rows);
  detail::require_whole_output("posv", a, part_of(uplo));
  call.prepare(tile);
  auto const factor = call.tiles(0, a, part_of(uplo));
  auto const right = call.tiles(1, b);
  detail::require_finite(call, solve_options, true, a, factor, b, right);
  potrf(call.tasks(), factor, options);
  potrs(call.tasks(), factor, right);
  call.finish();
}

/// B := op(A)^-1 B with the factors and the row exchanges from getrf; xGETRS. Views are cut into tiles of the size used
/// in the factorization.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void getrs(Runtime& runtime, Op op, A const& lu, Pivots const& pivots, B const& b) {
  detail::MatrixCall call(runtime, "getrs");
  auto const& x = call.reads("A", lu, op);
  auto const& y = call.writes("B", b);
  call.require_square(0);
  call.require_match(x.rows == y.rows);
  detail::require_pivots("getrs", pivots, x);
  call.prepare(pivots.grid().tile);
  auto const data = detail::bind_pivots(call.data(), pivots);
  getrs(call.tasks(), op, call.tiles(0, lu), &data, call.tiles(1, b));
  call.finish();
}

/// B := op(A)^-1 B with the factors from getrf_nopiv.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void getrs_nopiv(Runtime& runtime, Op op, A const& lu, B const& b, TileSize tile = {}) {
  detail::MatrixCall call(runtime, "getrs_nopiv");
  auto const& x = call.reads("A", lu, op);
  auto const& y = call.writes("B", b);
  call.require_square(0);
  call.require_match(x.rows == y.rows);
  call.prepare(tile);
  getrs(call.tasks(), op, call.tiles(0, lu), nullptr, call.tiles(1, b));
  call.finish();
}

/// Solves A X = B; overwrites A with its factors, `pivots` with the row exchanges and B with X; xGESV. The solve starts
/// while the factorization runs.
///
/// Throws Singular like getrf: A and `pivots` then hold the complete factorization, and B infinities and NaNs. Views
/// with NaN or infinity: see SolveOptions.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
void gesv(Runtime& runtime, A const& a, B const& b, Pivots& pivots, TileSize tile = {},
          LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) {
  detail::MatrixCall call(runtime, "gesv");
  auto const& x = call.writes("A", a);
  auto const& y = call.writes("B", b);
  call.require_square(0);
  call.require_match(x.rows == y.rows);
  call.prepare(tile);
  auto const lu = call.tiles(0, a);
  auto const right = call.tiles(1, b);
  detail::require_finite(call, solve_options, false, a, lu, b, right);
  pivots = Pivots(lu.grid());
  auto const data = detail::bind_pivots(call.data(), pivots);
  getrf(call.tasks(), lu, data, detail::with_leaf(options, lu, detail::MatrixTraits<A>::is_view, call.memory()));
  getrs(call.tasks(), Op::NoTrans, lu, &data, right);
  call.finish();
  if (auto const order = pivots.zero_pivot()) throw Singular(*order);
}

/// The same for nonsingular matrices: after Singular the row exchanges are lost.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
[[nodiscard]] Pivots gesv(Runtime& runtime, A const& a, B const& b, TileSize tile = {},
                          LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) {
  Pivots pivots(TileGrid{});
  gesv(runtime, a, b, pivots, tile, options, solve_options);
  return pivots;
}

}  // namespace granary
