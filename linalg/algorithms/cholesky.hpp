// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/factor_order.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/priorities/cholesky.hpp>
#include <granary/detail/linalg/tiles/not_positive_definite.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

namespace granary {

struct GRANARY_EXPORT CholeskyOptions {
  detail::FactorOrder order = detail::FactorOrder::RightLooking;
  /// Bottom levels in closed form as priorities; otherwise all are 0.
  bool priorities = true;
  /// Lets the updates of a tile run in any order, for schedulers that choose it, as `planned` does: a little less is
  /// moved. The result then differs in rounding from run to run.
  bool commuting = false;
  detail::CholeskyTimes times{};
  /// Tiles of a tile column that one task updates, at least 1; not with `inner_tile`, `commuting` or devices. More than
  /// 1 is faster where the tiles are parts of one matrix in memory. 0: a call with a Runtime chooses, otherwise 1.
  std::uint64_t stack = 0;
  std::int32_t inner_tile = 0;  ///< see TaskEmitter::inner_tile; 0: the emitter's
  std::uint64_t first = 0;      ///< row of a larger matrix where A begins, used in the message of NotPositiveDefinite
};

/// Emits the tasks that overwrite the stored triangle of A with its Cholesky factor: A = L L^H if A's part is Lower, A
/// = U^H U if it is Upper. The other triangle is neither read nor written. n³/3 flops (4n³/3 if T is complex) in
/// N(N+1)(N+2)/6 tasks for N tiles per row, fewer if `options.stack` is above 1. T is one of the four scalars.
///
/// A task throws NotPositiveDefinite if a pivot is not positive. Throws InvalidArgument if A is not square or its part
/// is All, and what Submitter documents.
template <class T>
GRANARY_EXPORT void potrf(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, CholeskyOptions const& options = {});

/// B := A^-1 B with the factor from potrf: solves L L^H X = B if its part is Lower, U^H U X = B if it is Upper. B has
/// any number of columns, and the tile size of the factor. 2 n² flops (8 n²) per column, by two calls of trsm. Throws
/// InvalidArgument if the factor is not square, its part is All, or the shapes do not match, and what trsm documents.
template <class T>
GRANARY_EXPORT void potrs(TaskEmitter& tasks, detail::TiledMatrix<T> const& factor, detail::TiledMatrix<T> const& b);

}  // namespace granary
