// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/scalar.hpp>
#include <granary/linalg/task_emitter.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#pragma GCC visibility push(default)

/// The level 3 BLAS on tiled matrices: each function emits one task per product of tiles. T is one of the four scalars;
/// shapes, layouts and ragged edges are arbitrary, but all operands have tiles of one size.
///
/// A triangular or Hermitian operand is read and written only in the tiles of its triangle `uplo`, and its part() may
/// be All or that triangle; all others are of part All. What a function overwrites shares no tile with what it reads.
/// All throw InvalidArgument, before they emit a task, when this or the shapes do not hold, and what Submitter
/// documents.
///
/// Where alpha is 0 the other operands count for nothing, as in the BLAS: one task per tile of the result scales it,
/// and still names a tile of each.
namespace granary {

/// C := alpha op(A) op(B) + beta C, C of m x n, op(A) of m x k, op(B) of k x n. Where beta is 0, C is written, not
/// read, and needs no value. A and B may be the same matrix. 2 m n k flops (8 m n k where T is complex), a task for
/// each of the M N K products of tiles, without priorities.
///
/// Order: C is stationary, all products of one of its tiles follow each other, tile by tile down the columns of C. In
/// this order a tile of C moves once, and a column of op(B) serves a whole column of C. All first products are ready at
/// once: a scheduler that goes by readiness alone runs them as outer products.
template <class T>
void gemm(TaskEmitter& tasks, Op op_a, Op op_b, T alpha, TiledMatrix<T> const& a, TiledMatrix<T> const& b, T beta,
          TiledMatrix<T> const& c);

/// C := alpha op(A) op(A)^H + beta C on the triangle `uplo` of C, op(A) of n x k being A or A^H; where T is real, SYRK.
/// Op::Trans is refused where T is complex. The diagonal tiles of C keep their other triangle and are read also where
/// beta is 0: they must have a value. n (n+1) k flops (4 n (n+1) k). Order as in gemm.
template <class T>
void herk(TaskEmitter& tasks, Uplo uplo, Op op, RealOf<T> alpha, TiledMatrix<T> const& a, RealOf<T> beta,
          TiledMatrix<T> const& c);

/// C := alpha op(A) op(A)^T + beta C on the triangle `uplo` of C, op(A) of n x k being A or A^T, without conjugation.
/// Op::ConjTrans is refused where T is complex. The rest as in herk.
template <class T>
void syrk(TaskEmitter& tasks, Uplo uplo, Op op, T alpha, TiledMatrix<T> const& a, T beta, TiledMatrix<T> const& c);

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A Hermitian (symmetric where T is real), of which
/// the triangle `uplo` is stored; what is not stored is read as the conjugate transpose of what is. C as in gemm.
/// 2 m n k flops (8 m n k), k the order of A. Order as in gemm.
template <class T>
void hemm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, TiledMatrix<T> const& a, TiledMatrix<T> const& b, T beta,
          TiledMatrix<T> const& c);

/// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right) with A triangular. k m n flops (4 k m n), k the order of A,
/// in K N + K (K-1)/2 N tasks for N columns of tiles of B (left; rows, right).
///
/// Right-looking: once a row of B is solved, it is subtracted from all later ones. Priorities are the bottom levels, a
/// solve taking 1 and an update 2.
template <class T>
void trsm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, TiledMatrix<T> const& a,
          TiledMatrix<T> const& b);

/// B := alpha op(A) B (left) or alpha B op(A) (right) with A triangular, in place. Flops and tasks as in trsm. Each row
/// of tiles of B (left; column, right) is finished before those that it reads are overwritten. No priorities.
template <class T>
void trmm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, TiledMatrix<T> const& a,
          TiledMatrix<T> const& b);

}  // namespace granary

#pragma GCC visibility pop
