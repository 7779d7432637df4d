// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <span>

/// Tasks on several tiles of a tile column, one below the other. Tiles that follow each other in memory, as in one
/// matrix, are one tile for BLAS: GEMM is faster on it, since the other operand is packed once. For CPU workers; a
/// stack of one tile is the task of blas3.hpp.
namespace granary::tiles {

/// C := C + alpha A op(B), A and C stacks of as many rows.
template <class T>
void gemm(TaskEmitter& tasks, Op op_b, T alpha, std::span<detail::TileRef const> a, detail::TileRef const& b,
          std::span<detail::TileRef const> c, std::int64_t priority = 0);

/// B := B op(A)^-1, A lower triangular and B a stack.
template <class T>
void trsm_right(TaskEmitter& tasks, Op op, detail::TileRef const& a, std::span<detail::TileRef const> b,
                std::int64_t priority = 0);

}  // namespace granary::tiles
