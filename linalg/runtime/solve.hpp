// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/blas3.hpp>
#include <granary/linalg/runtime/factor.hpp>

#pragma GCC visibility push(default)

/// Solves of linear systems on a runtime; B holds the right-hand sides, any number of columns, and then the solutions.
/// Each call waits for its result, and throws InvalidArgument, with names and sizes and before anything is changed,
/// when its operands do not fit, and what Runtime::wait throws.
namespace granary {

/// What posv, gesv, posv_mixed and gesv_mixed take.
struct SolveOptions {
  /// Refuses Views that hold NaN or infinity with InvalidArgument, which names the first such element, before anything
  /// is changed. Reads A and B once at the speed of memory: 5 % of the processor time of a solve of order 500, 1 to 4 %
  /// of orders from 1000 to 4000, a share that falls with 1/n. Without the check such elements go through the
  /// arithmetic as in LAPACK. Elements of files are always checked, when they are read.
  bool check_finite = true;
};

namespace detail {

/// Throws what Runtime::wait throws, and InvalidArgument where A or B is a View that holds NaN or infinity.
template <class A, class B, class T>
void require_finite(MatrixCall& call, SolveOptions const& options, bool hermitian, A const& a,
                    TiledMatrix<T> const& a_tiles, B const& b, TiledMatrix<T> const& b_tiles) {
  if (!options.check_finite || !(MatrixTraits<A>::is_view || MatrixTraits<B>::is_view)) return;
  call.look_for_nan(0, a, a_tiles, hermitian);
  call.look_for_nan(1, b, b_tiles);
  call.runtime().wait();
}

}  // namespace detail

/// B := A^-1 B with the Cholesky factor that potrf left in the triangle `uplo`; xPOTRS.
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

/// Solves A X = B with A Hermitian positive definite, of which the triangle `uplo` is overwritten by its Cholesky
/// factor, and B by X; xPOSV. The solve begins while the factorization runs.
///
/// Throws NotPositiveDefinite as potrf does; A and B are then partly overwritten. Of Views with NaN or infinity, see
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

/// B := op(A)^-1 B with the factors and the row exchanges that getrf left; xGETRS. Views are cut into the tiles that
/// they were factored in.
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

/// B := op(A)^-1 B with the factors that getrf_nopiv left.
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

/// Solves A X = B, overwriting A by its factors, `pivots` by the row exchanges and B by X; xGESV. The solve begins
/// while the factorization runs.
///
/// Throws Singular as getrf does: A and `pivots` hold the whole factorization then, B infinities and NaNs. Of Views
/// with NaN or infinity, see SolveOptions.
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

/// The same, for matrices that are not singular: after Singular the row exchanges are lost.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
[[nodiscard]] Pivots gesv(Runtime& runtime, A const& a, B const& b, TileSize tile = {},
                          LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) {
  Pivots pivots(TileGrid{});
  gesv(runtime, a, b, pivots, tile, options, solve_options);
  return pivots;
}

}  // namespace granary

#pragma GCC visibility pop
