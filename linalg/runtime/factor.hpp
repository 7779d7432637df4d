// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/runtime/matrix_call.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

/// Factorizations on a runtime, in place. The functions in `granary::async` submit their tasks and return; those in
/// `granary` also wait, for their own results alone. All throw InvalidArgument, with names and sizes and before
/// anything is changed, if their operands do not match. What the factorization finds is thrown by Pending::wait and
/// Pending::get.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Matrix a("A", 300, 300), c("C", 300, 200);
/// granary::Runtime runtime;
/// granary::set(runtime, 0.0, 4.0, a);
/// granary::set(runtime, 1.0, 4.0, c);
/// auto factor = granary::async::potrf(runtime, granary::Uplo::Lower, a);  // submits and returns
/// granary::Pivots const pivots = granary::getrf(runtime, c);              // runs beside it; waits for C
/// factor.wait();                                                          // A's lower triangle is L
/// assert(a(299, 299) == 2.0 && pivots[0] == 0);
/// ```
namespace granary {

/// Default options of LU calls with a Runtime: with leaf_tiles 0 the call chooses the height of a panel's leaf tasks. M
/// is the memory limit for tasks.
///
/// Without devices, a panel is one task with partial pivoting, as in LAPACK, if the matrix is a View, or if one tile
/// column and its workspace fit in 3/4 M (see fit_panels). With devices, a panel is one task if its copy fits in M/4 (a
/// View), or panel and copy fit in M/8 (other matrices). Otherwise leaves have as many tiles as fit by the rule for
/// devices, at least 2, and tournament pivoting selects the rows.
[[nodiscard]] inline LuOptions chosen_leaf() { return {.leaf_tiles = 0}; }

/// Collective. The largest elements of all processes, from the largest of each process's tiles.
[[nodiscard]] GRANARY_EXPORT PivotGrowth growth_of_all(detail::Session& session, PivotGrowth growth);

namespace detail {

template <class T>
[[nodiscard]] LuOptions with_leaf(LuOptions options, TiledMatrix<T> const& a, bool is_view, Bytes memory,
                                  bool devices) {
  if (options.leaf_tiles != 0) return options;
  auto const& grid = a.grid();
  auto const tile_bytes = grid.largest_tile() * sizeof(T);
  auto const fitting = is_view ? memory / 4 / tile_bytes : memory / 8 / (2 * tile_bytes);
  options.leaf_tiles = std::max<std::uint64_t>(2, std::min(fitting, grid.tile_rows()));
  if (devices) return options;
  if (!is_view) return fit_panels(options, grid, sizeof(T), memory);
  options.host_panels = true;
  options.leaf_tiles = grid.tile_rows();
  return options;
}

/// The options for a call with this matrix.
template <MutableMatrix A>
[[nodiscard]] LuOptions fitted(MatrixCall const& call, LuOptions options, A const&, TiledMatrix<ScalarOf<A>> const& a) {
  options = with_leaf(options, a, MatrixTraits<A>::is_view, call.memory(), call.has_devices());
  options.stack = call.choose_stack(options.stack, MatrixTraits<A>::is_view, a.grid());
  return options;
}
template <MutableMatrix A>
[[nodiscard]] CholeskyOptions fitted(MatrixCall const& call, CholeskyOptions options, A const&, TileGrid const& grid) {
  options.stack = call.choose_stack(options.stack, MatrixTraits<A>::is_view, grid);
  return options;
}

/// The panels of the pivots of the matrix with that name, as data in place. Throws InvalidArgument if there are other
/// processes.
[[nodiscard]] inline PivotData bind_pivots(DataScope& scope, Pivots pivots, std::string const& matrix) {
  scope.session().refuse_with_others("rows cannot be exchanged");
  PivotData data;
  for (std::uint64_t k = 0; k < pivots.grid().diagonal(); ++k) {
    data.panels.push_back(scope.in_place("pivots of " + matrix + ", panel " + std::to_string(k), pivots.panel(k),
                                         pivot_bytes(pivots.grid(), k), pivots.memory()));
  }
  return data;
}

/// For Pending: throws Singular if a pivot is exactly zero.
[[nodiscard]] inline std::function<void()> refuse_zero_pivot(Pivots const& pivots) {
  return [pivots] {
    if (auto const order = pivots.zero_pivot()) throw Singular(*order);
  };
}

}  // namespace detail

namespace async {

/// Overwrites the triangle `uplo` of A with its Cholesky factor: A = L L^H (Lower) or A = U^H U (Upper); xPOTRF. The
/// other triangle is neither read nor written. Open a FileMatrix with an output as that triangle.
///
/// NotPositiveDefinite has the order of the leading minor that is not positive; A is then partly overwritten.
template <MutableMatrix A>
Pending<> potrf(RuntimeCall runtime, Uplo uplo, A const& a, detail::TileSize tile = {},
                CholeskyOptions const& options = {}) {
  return detail::matrix_call(runtime, "potrf", [&](detail::MatrixCall& call) {
    call.writes("A", a);
    call.require_square(0);
    call.require_whole_output(a, detail::part_of(uplo));
    call.prepare(tile);
    auto const tiles = call.tiles(0, a, detail::part_of(uplo));
    granary::potrf(call.tasks(), tiles, detail::fitted(call, options, a, tiles.grid()));
    return call.submitted();
  });
}

/// Overwrites A, of any shape, with the factors of P A = L U, and `pivots` with the row exchanges; xGETRF. chosen_leaf
/// describes the choice of pivoting. `pivots` may be passed on to getrs and laswp at once, and may be destroyed; the
/// application reads its numbers after the wait.
///
/// Singular has the number of the pivot if one is exactly zero. As in LAPACK, A and `pivots` then hold the complete
/// factorization.
template <MutableMatrix A>
Pending<> getrf(RuntimeCall runtime, A const& a, Pivots& pivots, detail::TileSize tile = {},
                LuOptions const& options = chosen_leaf()) {
  return detail::matrix_call(runtime, "getrf", [&](detail::MatrixCall& call) {
    call.writes("A", a);
    call.prepare(tile);
    auto const tiles = call.tiles(0, a);
    pivots = Pivots(tiles.grid());
    granary::getrf(call.tasks(), tiles, detail::bind_pivots(call.data(), pivots, tiles.name()),
                   detail::fitted(call, options, a, tiles));
    return call.submitted(detail::refuse_zero_pivot(pivots));
  });
}

/// The same for nonsingular matrices: after Singular the row exchanges are lost.
template <MutableMatrix A>
[[nodiscard]] Pending<Pivots> getrf(RuntimeCall runtime, A const& a, detail::TileSize tile = {},
                                    LuOptions const& options = chosen_leaf()) {
  Pivots pivots(detail::TileGrid{});
  auto call = async::getrf(runtime, a, pivots, tile, options);
  return {std::move(call), [pivots] { return pivots; }};
}

/// Overwrites A, of any shape, with the factors of A = L U without pivoting; the result is the pivot growth. Stable if
/// A is diagonally dominant or Hermitian positive definite; a large ratio() means that it was not stable.
///
/// Singular has the number and the modulus of the pivot if one is refused (see LuOptions::tiny); A is then partly
/// overwritten.
template <MutableMatrix A>
Pending<PivotGrowth> getrf_nopiv(RuntimeCall runtime, A const& a, detail::TileSize tile = {}, LuOptions options = {}) {
  return detail::matrix_call(runtime, "getrf_nopiv", [&](detail::MatrixCall& call) {
    call.writes("A", a);
    call.prepare(tile);
    auto const tiles = call.tiles(0, a);
    auto const maxima = std::make_shared<detail::TileMaxima>(tiles.grid());
    options.growth =
        maxima->bind([&](char const* name, double& number) { return call.data().in_place(name, number, maxima); });
    granary::getrf_nopiv(call.tasks(), tiles, options);
    auto const growth = std::make_shared<PivotGrowth>();
    auto const combine = [&session = runtime.session(), maxima, growth] {
      *growth = growth_of_all(session, maxima->growth());
    };
    return Pending<PivotGrowth>(call.submitted(combine), [growth] { return *growth; });
  });
}

/// B := P B (Forward) or P^T B (Backward) with the row exchanges of getrf; xLASWP. B has the number of rows and the
/// tile size of the factored matrix.
template <MutableMatrix B>
Pending<> laswp(RuntimeCall runtime, B const& b, Pivots const& pivots, detail::SwapDirection direction) {
  return detail::matrix_call(runtime, "laswp", [&](detail::MatrixCall& call) {
    call.writes("B", b);
    call.require_pivots(0, pivots.grid());
    call.prepare(pivots.grid().tile);
    auto const tiles = call.tiles(0, b);
    granary::laswp(call.tasks(), tiles, detail::bind_pivots(call.read_data(), pivots, tiles.name()), pivots.grid(),
                   direction);
    return call.submitted();
  });
}

}  // namespace async

// The same, with a wait for the result.

template <MutableMatrix A>
void potrf(RuntimeCall runtime, Uplo uplo, A const& a, detail::TileSize tile = {},
           CholeskyOptions const& options = {}) {
  runtime.refuse_in_task("potrf");
  async::potrf(runtime, uplo, a, tile, options).wait();
}

template <MutableMatrix A>
void getrf(RuntimeCall runtime, A const& a, Pivots& pivots, detail::TileSize tile = {},
           LuOptions const& options = chosen_leaf()) {
  runtime.refuse_in_task("getrf");
  async::getrf(runtime, a, pivots, tile, options).wait();
}

template <MutableMatrix A>
[[nodiscard]] Pivots getrf(RuntimeCall runtime, A const& a, detail::TileSize tile = {},
                           LuOptions const& options = chosen_leaf()) {
  runtime.refuse_in_task("getrf");
  return async::getrf(runtime, a, tile, options).get();
}

template <MutableMatrix A>
PivotGrowth getrf_nopiv(RuntimeCall runtime, A const& a, detail::TileSize tile = {}, LuOptions const& options = {}) {
  runtime.refuse_in_task("getrf_nopiv");
  return async::getrf_nopiv(runtime, a, tile, options).get();
}

template <MutableMatrix B>
void laswp(RuntimeCall runtime, B const& b, Pivots const& pivots, detail::SwapDirection direction) {
  runtime.refuse_in_task("laswp");
  async::laswp(runtime, b, pivots, direction).wait();
}

}  // namespace granary
