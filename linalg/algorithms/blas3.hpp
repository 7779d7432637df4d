// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

/// Level 3 BLAS on tiled matrices: each function emits one task per product of tiles. T is one of the four scalars.
/// Shapes, layouts and ragged edges are arbitrary; all operands have the same tile size.
///
/// Of a triangular or Hermitian operand only the tiles of the triangle `uplo` are read and written; its part() is All
/// or that triangle. All other operands have part All. Outputs share no tile with inputs. All functions throw
/// InvalidArgument, before they emit a task, if these conditions or the shapes do not hold, and what Submitter
/// documents.
///
/// If alpha is 0, the values of the other operands do not count, as in the BLAS: one task per tile of the result scales
/// it, and still accesses a tile of each operand.
namespace granary {

/// C := alpha op(A) op(B) + beta C, C of m x n, op(A) of m x k, op(B) of k x n. If beta is 0, C is written without
/// being read, and needs no value. A and B may be the same matrix. 2 m n k flops (8 m n k if T is complex); one task
/// for each of the M N K products of tiles, without priorities.
///
/// Order: C is stationary. All products of one tile of C follow each other, and the tiles follow each other down the
/// columns of C. In this order each tile of C is moved once, and a column of op(B) serves a whole column of C. All
/// first products are ready at once: a scheduler that only looks at readiness runs them as outer products.
template <class T>
GRANARY_EXPORT void gemm(TaskEmitter& tasks, Op op_a, Op op_b, T alpha, detail::TiledMatrix<T> const& a,
                         detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c);

/// C := alpha op(A) op(A)^H + beta C on the triangle `uplo` of C, op(A) of n x k being A or A^H; if T is real, SYRK.
/// Op::Trans is refused if T is complex. The diagonal tiles of C keep their other triangle, so they are read and must
/// have a value even if beta is 0. n (n+1) k flops (4 n (n+1) k). Order as in gemm.
template <class T>
GRANARY_EXPORT void herk(TaskEmitter& tasks, Uplo uplo, Op op, detail::RealOf<T> alpha, detail::TiledMatrix<T> const& a,
                         detail::RealOf<T> beta, detail::TiledMatrix<T> const& c);

/// C := alpha op(A) op(A)^T + beta C on the triangle `uplo` of C, op(A) of n x k being A or A^T, without conjugation.
/// Op::ConjTrans is refused if T is complex. Otherwise like herk.
template <class T>
GRANARY_EXPORT void syrk(TaskEmitter& tasks, Uplo uplo, Op op, T alpha, detail::TiledMatrix<T> const& a, T beta,
                         detail::TiledMatrix<T> const& c);

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A Hermitian (symmetric if T is real), stored in
/// the triangle `uplo`. C as in gemm. 2 m n k flops (8 m n k), k the order of A. Order as in gemm.
template <class T>
GRANARY_EXPORT void hemm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, detail::TiledMatrix<T> const& a,
                         detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c);

/// The same with A symmetric, also if T is complex; then a temporary tile for each diagonal tile of A.
template <class T>
GRANARY_EXPORT void symm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, detail::TiledMatrix<T> const& a,
                         detail::TiledMatrix<T> const& b, T beta, detail::TiledMatrix<T> const& c);

/// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right) with A triangular. k m n flops (4 k m n), k the order of A,
/// in K N + K (K-1)/2 N tasks for N columns of tiles of B (left; rows, right).
///
/// Right-looking: a solved row of B is subtracted from all later ones. Priorities are the bottom levels, with time 1
/// for a solve and 2 for an update.
template <class T>
GRANARY_EXPORT void trsm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                         detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& b);

/// B := alpha op(A) B (left) or alpha B op(A) (right) with A triangular, in place. Flops and tasks as in trsm. Each row
/// of tiles of B (left; column, right) is finished before its inputs are overwritten. No priorities.
template <class T>
GRANARY_EXPORT void trmm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                         detail::TiledMatrix<T> const& a, detail::TiledMatrix<T> const& b);

}  // namespace granary
