// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/factor_order.hpp>
#include <granary/detail/linalg/algorithms/pivot_growth.hpp>
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/priorities/lu.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <optional>

/// LU factorizations and solves with their factors. T is float, double, Kokkos::complex<float> or
/// Kokkos::complex<double>. Every function throws what Submitter documents, and InvalidArgument if sizes do not match.
namespace granary {

struct GRANARY_EXPORT LuOptions {
  detail::FactorOrder order = detail::FactorOrder::RightLooking;
  /// Priorities in closed form; see CholeskyOptions.
  bool priorities = true;
  /// With pivoting and FactorOrder::LeftLooking: tile columns that get all their updates together, at least 1. Each
  /// tile of L is then loaded once for all of them. Best for matrices larger than memory, if four fifths of the memory
  /// hold so many columns (half, with a scheduler that does not plan).
  std::uint64_t columns = 1;
  /// Panels of one task are for CPU workers, where they need a workspace for a few columns only.
  bool host_panels = false;
  /// Tile rows of a panel in one leaf task, at least 1. A panel with at most this many is factored with partial
  /// pivoting. In a taller panel, each group of the tournament has this many tiles. A task needs memory for up to
  /// 2 max(2, leaf_tiles) + 1 tiles.
  std::uint64_t leaf_tiles = 4;
  /// Without pivoting, a pivot is refused if its modulus is below tiny * max |a_ij|, the maximum over its tile before
  /// factorization (its sub-tile, if the tile's task runs as a finer graph). It is always refused if it is zero, below
  /// the smallest normal number or not finite. n ε refuses pivots without a correct digit; badly scaled matrices may
  /// have such pivots legitimately, so the default refuses none.
  double tiny = 0;
  /// Measures the pivot growth, from each tile before its first change and from each tile of U. Without pivoting, the
  /// tasks that change these tiles measure, unless they may run as finer graphs. Otherwise there is one more task for
  /// each, which reads the tile once more.
  std::optional<detail::GrowthData> growth{};
  /// Without pivoting, lets the updates of a tile run in any order, for schedulers that choose it, as `planned`
  /// does: a little less is moved. The result then differs in rounding from run to run.
  bool commuting = false;
  detail::LuTimes times{};
  /// With pivoting: see CholeskyOptions::stack.
  std::uint64_t stack = 0;
  std::int32_t inner_tile = 0;  ///< see TaskEmitter::inner_tile; 0: the emitter's
  std::uint64_t first = 0;      ///< without pivoting: row of a larger matrix where A begins, for Singular's message
};

/// Options for a matrix whose tiles a memory of `memory` bytes holds in part, without devices: LuOptions::host_panels.
/// If three quarters of the memory hold a tile column and the workspace of a panel, panels are one task each: partial
/// pivoting. If in addition the matrix is larger than the memory, the order is left-looking, with as many columns
/// together as four fifths of the memory hold, at least one: every tile is then loaded and written once, and each tile
/// of L loaded once more for each block of columns on its right, and loaded and written once more for its last row
/// exchanges. `element`: bytes of an element.
[[nodiscard]] GRANARY_EXPORT LuOptions fit_panels(LuOptions options, detail::TileGrid const& grid, Bytes element,
                                                  Bytes memory);

/// Emits the tasks that overwrite A with its factors without pivoting: A = L U, L with a unit diagonal that is not
/// stored; m x n, either may be larger, A's part is All. m n² - n³/3 flops for m ≥ n (four times that if T is complex);
/// for square A in N(N+1)(2N+1)/6 tasks for N tiles per row (DARTS, section 6.2).
///
/// Stable if A is diagonally dominant, by rows or columns, or Hermitian positive definite. A task throws Singular if it
/// refuses a pivot, see LuOptions::tiny.
template <class T>
GRANARY_EXPORT void getrf_nopiv(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, LuOptions const& options = {});

/// Emits the tasks that overwrite A with the factors of P A = L U, stored as in LAPACK's getrf, and `pivots`, one datum
/// of pivot_bytes per diagonal tile. m x n, either may be larger; A's part is All.
///
/// Panels that fit one task are factored with partial pivoting. In taller ones a tournament finds the pivots (Grigori,
/// Demmel, Xiang: CALU, SIAM J. Matrix Anal. Appl. 32, 2011, section 2): partial pivoting selects rows in each group of
/// tiles, and the selected rows compete in groups again, until one tile of rows is left. |l_ij| is then not bounded by
/// 1, but small in practice, and the growth is about as in partial pivoting. No task needs a panel's full height.
///
/// A pivot that is exactly zero stops nothing: see Pivots::zero_pivot. NaNs in A give NaNs and any pivots.
template <class T>
GRANARY_EXPORT void getrf(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::PivotData const& pivots,
                          LuOptions const& options = {});

/// B := P B (forward) or P^T B (backward) with the row exchanges of a factorization of a matrix with the grid
/// `factored`; B has its tile size and number of rows.
template <class T>
GRANARY_EXPORT void laswp(TaskEmitter& tasks, detail::TiledMatrix<T> const& b, detail::PivotData const& pivots,
                          detail::TileGrid const& factored, detail::SwapDirection direction);

/// B := op(A)^-1 B with the factors of A from getrf, or from getrf_nopiv if there are no pivots. 2 n² flops per column
/// of B (8 n² if T is complex). If a pivot is zero, B gets infinities and NaNs.
template <class T>
GRANARY_EXPORT void getrs(TaskEmitter& tasks, Op op, detail::TiledMatrix<T> const& lu, detail::PivotData const* pivots,
                          detail::TiledMatrix<T> const& b);

}  // namespace granary
