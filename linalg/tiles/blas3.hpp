// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>

/// Each function emits one task on tiles; T is one of the four scalars. Sizes must match; the kernels, not these
/// functions, throw InvalidArgument. `priority` as in TaskSubmission.
namespace granary::tiles {

/// C := alpha op(A) op(B) + beta C. C is written, not read, if beta is 0. 2 m n k flops (8 m n k if T is complex).
template <class T>
void gemm(TaskEmitter& tasks, Op op_a, Op op_b, T alpha, detail::TileRef const& a, detail::TileRef const& b, T beta,
          detail::TileRef const& c, std::int64_t priority = 0);

/// C := alpha op(A) op(A)^H + beta C on one triangle of C, op(A) being A or A^H; if T is real, SYRK.
/// n (n+1) k flops (4 n (n+1) k).
template <class T>
void herk(TaskEmitter& tasks, Uplo uplo, Op op, detail::RealOf<T> alpha, detail::TileRef const& a,
          detail::RealOf<T> beta, detail::TileRef const& c, std::int64_t priority = 0);

/// C := alpha op(A) op(A)^T + beta C on one triangle of C, op(A) being A or A^T, without conjugation.
template <class T>
void syrk(TaskEmitter& tasks, Uplo uplo, Op op, T alpha, detail::TileRef const& a, T beta, detail::TileRef const& c,
          std::int64_t priority = 0);

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A Hermitian (symmetric if T is real), of which
/// the triangle `uplo` is read. 2 m n k flops (8 m n k), k the order of A.
template <class T>
void hemm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, detail::TileRef const& a, detail::TileRef const& b, T beta,
          detail::TileRef const& c, std::int64_t priority = 0);

/// B := alpha op(A) B (left) or alpha B op(A) (right) with A triangular. m n k flops (4 m n k), k the order of A.
template <class T>
void trmm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, detail::TileRef const& a,
          detail::TileRef const& b, std::int64_t priority = 0);

/// The factorization of a matrix of several tiles; `first` is its first row in a larger matrix.
template <class T>
using TiledPotrf = void (*)(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, std::uint64_t first);

/// A := L with A = L L^H (lower), or A := U with A = U^H U (upper). The task throws NotPositiveDefinite if a pivot
/// is not positive; `first` is the tile's first row in the matrix, for its message. `tiled` emits the task's finer
/// graph, on the sub-tiles. n³/3 flops (4 n³/3 if T is complex).
template <class T>
void potrf(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::uint64_t first, TiledPotrf<T> tiled,
           std::int64_t priority = 0);

/// Replaces one triangle of A by its inverse. The task throws Singular if diagonal entry k is zero; `first` is the
/// tile's first row in the matrix, for its message. n³/3 flops (4 n³/3).
template <class T>
void trtri(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::uint64_t first, std::int64_t priority = 0);

/// A := L^H L (lower) or U U^H (upper) of the triangle in A. n³/3 flops (4 n³/3).
template <class T>
void lauum(TaskEmitter& tasks, Uplo uplo, detail::TileRef const& a, std::int64_t priority = 0);

}  // namespace granary::tiles
