// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/algorithms/not_finite.hpp>
#include <granary/detail/linalg/runtime/factor.hpp>

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

/// Solves of linear systems on a runtime. B holds the right-hand sides, any number of columns, and afterwards the
/// solutions. The functions in `granary::async` submit their tasks and return; those in `granary` also wait, for their
/// own results alone. All throw InvalidArgument, with names and sizes and before anything is changed, if their operands
/// do not match. What the factorization finds is thrown by Pending::wait and Pending::get.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300), b("B", 300, 2);
/// Kokkos::deep_copy(b, 8.0);
/// granary::Runtime runtime;
/// granary::set(runtime, 0.0, 4.0, a);
/// granary::posv(runtime, granary::Uplo::Lower, a, b);  // A is overwritten with its factor
/// assert(b(299, 1) == 2.0);
/// try {
///   granary::posv(runtime, granary::Uplo::Lower, Matrix("zero", 300, 300), b);
/// } catch (granary::NotPositiveDefinite const& error) {
///   assert(error.order() == 1);
/// }
/// ```
namespace granary {

/// Options of posv, gesv, posv_mixed and gesv_mixed.
struct GRANARY_EXPORT SolveOptions {
  /// Refuses Views that hold NaN or infinity with InvalidArgument, which names the first such element, before anything
  /// is changed; the wait for the call throws it. Reads A and B once at the speed of memory: 5 % of the processor time
  /// of a solve of order 500, 1 to 4 % of orders from 1000 to 4000, a share that falls with 1/n. Without the check such
  /// elements go through the arithmetic as in LAPACK. Elements of files are always checked, when they are read.
  ///
  /// Also reads the solution once, and the wait throws NotFinite if it has overflowed: then A and B hold the factors
  /// and that solution.
  bool check_finite = true;
};

namespace detail {

/// The flags of the tasks that check A and B, if these are Views; empty if nothing is to be checked.
template <class A, class B, class T>
[[nodiscard]] std::vector<DataId> check_finite(MatrixCall& call, SolveOptions const& options, bool hermitian,
                                               A const& a, TiledMatrix<T> const& a_tiles, B const& b,
                                               TiledMatrix<T> const& b_tiles) {
  std::vector<DataId> flags;
  if (!options.check_finite || !(MatrixTraits<A>::is_view || MatrixTraits<B>::is_view)) return flags;
  auto const memory = std::make_shared<std::vector<std::byte>>(a_tiles.grid().tile_rows());
  auto const name = "check of " + a_tiles.name();
  for (auto& flag : *memory) {
    flags.push_back(call.data().in_place(tile_name(name, flags.size(), 0), &flag, 1, memory));
  }
  call.look_for_nan(0, a, a_tiles, flags, hermitian);
  call.look_for_nan(1, b, b_tiles, flags);
  return flags;
}

/// For Pending: throws what `before` throws, and NotFinite if the solution X holds NaN or infinity, unless the options
/// ask for no check.
template <class T>
[[nodiscard]] std::function<void()> refuse_not_finite(MatrixCall& call, SolveOptions const& options,
                                                      TiledMatrix<T> const& x, std::function<void()> before = nullptr) {
  if (!options.check_finite) return before;
  auto const largest = std::make_shared<double>(0);
  auto const datum = call.data().in_place("largest element of " + x.name(), largest);
  submit_lange(call.tasks(), Norm::Max, x, datum);
  return [before = std::move(before), share = call.data().shares(datum, largest), largest] {
    if (before) before();
    share();
    if (!std::isfinite(*largest)) throw NotFinite("the solution");
  };
}

/// Lets the factorization and the solve wait for the checks. All their tasks that change A or B need what the first
/// panel task leaves in A's first tile (Cholesky) or in its row exchanges (LU), which it makes from that tile: if a
/// check fails, no element of A or B changes.
template <class T>
void gate(MatrixCall& call, std::vector<DataId> const& flags, TiledMatrix<T> const& a) {
  if (!flags.empty()) submit_gate(call.tasks(), flags, a(0, 0));
}

}  // namespace detail

namespace async {

/// B := A^-1 B with the Cholesky factor from potrf in the triangle `uplo`; xPOTRS.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto potrs(RuntimeCall runtime, Uplo uplo, A const& factor, B const& b, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "potrs", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", factor);
    auto const& y = call.writes("B", b);
    call.require_square(0);
    call.require_match(x.rows == y.rows);
    call.prepare(tile);
    granary::potrs(call.tasks(), call.tiles(0, factor, detail::part_of(uplo)), call.tiles(1, b));
    return call.submitted();
  });
}

/// Solves A X = B with A Hermitian positive definite; overwrites its triangle `uplo` with the Cholesky factor, and B
/// with X; xPOSV. The solve starts while the factorization runs.
///
/// NotPositiveDefinite as of potrf; A and B are then partly overwritten. Views with NaN or infinity: see SolveOptions.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
auto posv(RuntimeCall runtime, Uplo uplo, A const& a, B const& b, detail::TileSize tile = {},
          CholeskyOptions const& options = {}, SolveOptions const& solve_options = {}) -> Pending<> {
  return detail::matrix_call(runtime, "posv", [&](detail::MatrixCall& call) {
    auto const& x = call.writes("A", a);
    auto const& y = call.writes("B", b);
    call.require_square(0);
    call.require_match(x.rows == y.rows);
    call.require_whole_output(a, detail::part_of(uplo));
    call.prepare(tile);
    auto const factor = call.tiles(0, a, detail::part_of(uplo));
    auto const right = call.tiles(1, b);
    detail::gate(call, detail::check_finite(call, solve_options, true, a, factor, b, right), factor);
    granary::potrf(call.tasks(), factor, detail::fitted(call, options, a, factor.grid()));
    granary::potrs(call.tasks(), factor, right);
    return call.submitted(detail::refuse_not_finite(call, solve_options, right));
  });
}

/// B := op(A)^-1 B with the factors and the row exchanges from getrf; xGETRS. Views are cut into tiles of the size used
/// in the factorization.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto getrs(RuntimeCall runtime, Op op, A const& lu, Pivots const& pivots, B const& b) -> Pending<> {
  return detail::matrix_call(runtime, "getrs", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", lu, op);
    auto const& y = call.writes("B", b);
    call.require_square(0);
    call.require_match(x.rows == y.rows);
    call.require_pivots(0, pivots.grid());
    call.prepare(pivots.grid().tile);
    auto const factors = call.tiles(0, lu);
    auto const data = detail::bind_pivots(call.read_data(), pivots, factors.name());
    granary::getrs(call.tasks(), op, factors, &data, call.tiles(1, b));
    return call.submitted();
  });
}

/// B := op(A)^-1 B with the factors from getrf_nopiv.
template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
auto getrs_nopiv(RuntimeCall runtime, Op op, A const& lu, B const& b, detail::TileSize tile = {}) -> Pending<> {
  return detail::matrix_call(runtime, "getrs_nopiv", [&](detail::MatrixCall& call) {
    auto const& x = call.reads("A", lu, op);
    auto const& y = call.writes("B", b);
    call.require_square(0);
    call.require_match(x.rows == y.rows);
    call.prepare(tile);
    granary::getrs(call.tasks(), op, call.tiles(0, lu), nullptr, call.tiles(1, b));
    return call.submitted();
  });
}

/// Solves A X = B; overwrites A with its factors, `pivots` with the row exchanges (see getrf) and B with X; xGESV. The
/// solve starts while the factorization runs.
///
/// Singular as of getrf: A and `pivots` then hold the complete factorization, and B infinities and NaNs. Views with NaN
/// or infinity: see SolveOptions.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
auto gesv(RuntimeCall runtime, A const& a, B const& b, Pivots& pivots, detail::TileSize tile = {},
          LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) -> Pending<> {
  return detail::matrix_call(runtime, "gesv", [&](detail::MatrixCall& call) {
    auto const& x = call.writes("A", a);
    auto const& y = call.writes("B", b);
    call.require_square(0);
    call.require_match(x.rows == y.rows);
    call.prepare(tile);
    auto const lu = call.tiles(0, a);
    auto const right = call.tiles(1, b);
    detail::gate(call, detail::check_finite(call, solve_options, false, a, lu, b, right), lu);
    pivots = Pivots(lu.grid());
    auto const data = detail::bind_pivots(call.data(), pivots, lu.name());
    granary::getrf(call.tasks(), lu, data, detail::fitted(call, options, a, lu));
    granary::getrs(call.tasks(), Op::NoTrans, lu, &data, right);
    return call.submitted(detail::refuse_not_finite(call, solve_options, right, detail::refuse_zero_pivot(pivots)));
  });
}

/// The same for nonsingular matrices: after Singular the row exchanges are lost.
template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
[[nodiscard]] Pending<Pivots> gesv(RuntimeCall runtime, A const& a, B const& b, detail::TileSize tile = {},
                                   LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) {
  Pivots pivots(detail::TileGrid{});
  auto call = async::gesv(runtime, a, b, pivots, tile, options, solve_options);
  return {std::move(call), [pivots] { return pivots; }};
}

}  // namespace async

// The same, with a wait for the result.

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void potrs(RuntimeCall runtime, Uplo uplo, A const& factor, B const& b, detail::TileSize tile = {}) {
  runtime.refuse_in_task("potrs");
  async::potrs(runtime, uplo, factor, b, tile).wait();
}

template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
void posv(RuntimeCall runtime, Uplo uplo, A const& a, B const& b, detail::TileSize tile = {},
          CholeskyOptions const& options = {}, SolveOptions const& solve_options = {}) {
  runtime.refuse_in_task("posv");
  async::posv(runtime, uplo, a, b, tile, options, solve_options).wait();
}

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void getrs(RuntimeCall runtime, Op op, A const& lu, Pivots const& pivots, B const& b) {
  runtime.refuse_in_task("getrs");
  async::getrs(runtime, op, lu, pivots, b).wait();
}

template <MatrixOperand A, MutableMatrix B>
requires SameScalars<A, B>
void getrs_nopiv(RuntimeCall runtime, Op op, A const& lu, B const& b, detail::TileSize tile = {}) {
  runtime.refuse_in_task("getrs_nopiv");
  async::getrs_nopiv(runtime, op, lu, b, tile).wait();
}

template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
void gesv(RuntimeCall runtime, A const& a, B const& b, Pivots& pivots, detail::TileSize tile = {},
          LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) {
  runtime.refuse_in_task("gesv");
  async::gesv(runtime, a, b, pivots, tile, options, solve_options).wait();
}

template <MutableMatrix A, MutableMatrix B>
requires SameScalars<A, B>
[[nodiscard]] Pivots gesv(RuntimeCall runtime, A const& a, B const& b, detail::TileSize tile = {},
                          LuOptions const& options = chosen_leaf(), SolveOptions const& solve_options = {}) {
  runtime.refuse_in_task("gesv");
  return async::gesv(runtime, a, b, tile, options, solve_options).get();
}

}  // namespace granary
