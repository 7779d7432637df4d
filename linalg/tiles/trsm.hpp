// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/left_triangle.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

/// The triangular solve, for tiles and for matrices of tiles. Each needs the other: a task on tiles may run as a finer
/// graph, which solves on the sub-tiles. T is one of the four scalars.
namespace granary::tiles {

/// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right) with A triangular: one task. m n k flops (4 m n k), k the
/// order of A.
template <class T>
void trsm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, detail::TileRef const& a,
          detail::TileRef const& b, std::int64_t priority = 0);

/// The same for matrices whose shapes match, with one task for each tile that changes in a step. `alpha` is not 0. The
/// priorities are bottom levels.
template <class T>
void trsm(TaskEmitter& tasks, detail::LeftTriangle<T> const& problem, Diag diag, T alpha);

}  // namespace granary::tiles
