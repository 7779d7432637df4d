// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/factor_order.hpp>
#include <granary/linalg/lu_priorities.hpp>
#include <granary/linalg/pivot_growth.hpp>
#include <granary/linalg/pivots.hpp>
#include <granary/linalg/singular.hpp>
#include <granary/linalg/task_emitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

/// LU factorizations and what is solved with them. T is float, double, Kokkos::complex<float> or
/// Kokkos::complex<double>; every function throws what Submitter documents, and InvalidArgument when sizes do not
/// match.
namespace granary {

struct LuOptions {
  FactorOrder order = FactorOrder::RightLooking;
  /// Priorities in closed form; see CholeskyOptions.
  bool priorities = true;
  /// Tile rows of a panel that one task takes, at least 1: a panel that has no more is factored with partial pivoting;
  /// in one that has more, that many meet in each match of the tournament. A task has up to 2 leaf_tiles + 1 tiles in
  /// memory.
  std::uint64_t leaf_tiles = 4;
  /// Without pivoting, a pivot is refused where its modulus is below tiny * max |a_ij| of its tile (of its sub-tile,
  /// where the tile's task runs as a finer graph) before it is factored, and always where it is zero, below the
  /// smallest normal number or not finite. n ε finds pivots without a correct digit; badly scaled matrices have such
  /// pivots by right, so that the default refuses none.
  double tiny = 0;
  /// Measures the pivot growth: of each tile before it first changes and of each tile of U, which take another look at
  /// it. Without pivoting the tasks that change these tiles do, unless they may run as finer graphs; else there is one
  /// more task for each.
  std::optional<GrowthData> growth{};
  LuTimes times{};
  std::int32_t inner_tile = 0;  ///< see TaskEmitter::inner_tile; 0: the emitter's
  std::uint64_t first = 0;  ///< without pivoting: row of a larger matrix where A begins, for the message of Singular
};

/// Emits the tasks that overwrite A by its factors without pivoting, A = L U, L with a unit diagonal that is not
/// stored; m x n, either may be larger, A's part is All. m n² - n³/3 flops for m ≥ n (four times that where T is
/// complex); for square A in N(N+1)(2N+1)/6 tasks, N tiles in a row (DARTS, section 6.2).
///
/// Stable where A is diagonally dominant, by rows or columns, or Hermitian positive definite. A task that meets a pivot
/// that is refused, see LuOptions::tiny, throws Singular.
template <class T>
void getrf_nopiv(TaskEmitter& tasks, TiledMatrix<T> const& a, LuOptions const& options = {});

/// Emits the tasks that overwrite A by the factors of P A = L U, stored as LAPACK's getrf does, and `pivots`, one datum
/// of pivot_bytes for each tile on the diagonal. m x n, either may be larger; A's part is All.
///
/// Panels that fit one task are factored with partial pivoting. In taller ones the pivots are found by a tournament
/// (Grigori, Demmel, Xiang: CALU, SIAM J. Matrix Anal. Appl. 32, 2011, section 2): the rows that partial pivoting
/// selects in each group of tiles meet in groups again, until one tile of rows is left. |l_ij| is not bounded by 1
/// then, but small in practice, and the growth is about that of partial pivoting. No task needs a panel's full height.
///
/// A pivot that is exactly zero stops nothing: see Pivots::zero_pivot. NaNs in A give NaNs and any pivots.
template <class T>
void getrf(TaskEmitter& tasks, TiledMatrix<T> const& a, PivotData const& pivots, LuOptions const& options = {});

/// Which way rows are exchanged: as they were in the factorization, or back.
enum class SwapDirection { Forward, Backward };

/// B := P B (forward) or P^T B (backward) with the row exchanges of a factorization whose matrix had the grid
/// `factored`; B has its tile and as many rows.
template <class T>
void laswp(TaskEmitter& tasks, TiledMatrix<T> const& b, PivotData const& pivots, TileGrid const& factored,
           SwapDirection direction);

/// B := op(A)^-1 B with the factors of A that getrf left, or getrf_nopiv where there are no pivots. 2 n² flops for each
/// column of B (8 n² where T is complex). Where a pivot is zero, B gets infinities and NaNs.
template <class T>
void getrs(TaskEmitter& tasks, Op op, TiledMatrix<T> const& lu, PivotData const* pivots, TiledMatrix<T> const& b);

}  // namespace granary

#pragma GCC visibility pop
