// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

/// Typed BLAS and LAPACK with their own names: column-major, 32-bit integers, no checks. T is float, double,
/// Kokkos::complex<float> or Kokkos::complex<double>; Hermitian means symmetric if T is real.
///
/// ```cpp
/// using granary::Op;
/// double const a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};  // column by column
/// double c[4];
/// granary::blas::gemm(Op::NoTrans, Op::Trans, 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2);  // C := A B^T
/// assert(c[0] == 1 * 5 + 3 * 7);
/// double l[] = {4, 2, 0, 10};
/// assert(granary::blas::potrf(granary::Uplo::Lower, 2, l, 2) == 0);
/// assert(l[0] == 2 && l[1] == 1 && l[3] == 3);
/// ```
namespace granary::blas {

/// C := alpha op(A) op(B) + beta C, with C m x n and k the inner dimension.
template <class T>
GRANARY_EXPORT void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, T const* a, int lda, T const* b, int ldb,
                         T beta, T* c, int ldc);

/// C := alpha op(A) op(A)^T + beta C, one triangle of the n x n matrix C; op(A) is n x k.
template <class T>
GRANARY_EXPORT void syrk(Uplo uplo, Op op, int n, int k, T alpha, T const* a, int lda, T beta, T* c, int ldc);

/// C := alpha op(A) op(A)^H + beta C, one triangle of the n x n matrix C; op(A), A or A^H, is n x k.
template <class T>
GRANARY_EXPORT void herk(Uplo uplo, Op op, int n, int k, detail::RealOf<T> alpha, T const* a, int lda,
                         detail::RealOf<T> beta, T* c, int ldc);

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A Hermitian, one triangle stored; C is m x n.
template <class T>
GRANARY_EXPORT void hemm(Side side, Uplo uplo, int m, int n, T alpha, T const* a, int lda, T const* b, int ldb, T beta,
                         T* c, int ldc);

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A symmetric, one triangle stored; C is m x n.
template <class T>
GRANARY_EXPORT void symm(Side side, Uplo uplo, int m, int n, T alpha, T const* a, int lda, T const* b, int ldb, T beta,
                         T* c, int ldc);

/// B := alpha op(A) B or alpha B op(A) with A triangular; B is m x n.
template <class T>
GRANARY_EXPORT void trmm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, T const* a, int lda, T* b,
                         int ldb);

/// Solves op(A) X = alpha B or X op(A) = alpha B with A triangular; X overwrites the m x n matrix B.
template <class T>
GRANARY_EXPORT void trsm(Side side, Uplo uplo, Op op, Diag diag, int m, int n, T alpha, T const* a, int lda, T* b,
                         int ldb);

/// Cholesky factorization in place. Returns 0, or k > 0 when the leading minor of order k is not positive definite.
template <class T>
[[nodiscard]] GRANARY_EXPORT int potrf(Uplo uplo, int n, T* a, int lda);

/// LU factorization with partial pivoting in place, A = P L U with L unit lower trapezoidal. `pivots[k]` (counted from
/// 1) is the row that row k was exchanged with, min(m, n) entries. Returns 0, or k > 0 when U(k, k) is exactly zero.
template <class T>
[[nodiscard]] GRANARY_EXPORT int getrf(int m, int n, T* a, int lda, int* pivots);

/// Inverse of a triangle in place. Returns 0, or k > 0 when the k-th diagonal entry is zero (A is then unchanged).
template <class T>
[[nodiscard]] GRANARY_EXPORT int trtri(Uplo uplo, Diag diag, int n, T* a, int lda);

/// y := alpha op(A) x + beta y, A of m x n; consecutive entries are `incx` apart in x, `incy` in y.
template <class T>
GRANARY_EXPORT void gemv(Op op, int m, int n, T alpha, T const* a, int lda, T const* x, int incx, T beta, T* y,
                         int incy);

/// Norm of a general m x n matrix. The infinity norm takes `work` of m entries.
template <class T>
[[nodiscard]] GRANARY_EXPORT detail::RealOf<T> lange(Norm norm, int m, int n, T const* a, int lda,
                                                     detail::RealOf<T>* work = nullptr);

/// Norm of a symmetric n x n matrix of which one triangle is stored. One and infinity norm take `work` of n entries.
template <class T>
[[nodiscard]] GRANARY_EXPORT detail::RealOf<T> lansy(Norm norm, Uplo uplo, int n, T const* a, int lda,
                                                     detail::RealOf<T>* work = nullptr);

/// Norm of a Hermitian n x n matrix of which one triangle is stored; as lansy.
template <class T>
[[nodiscard]] GRANARY_EXPORT detail::RealOf<T> lanhe(Norm norm, Uplo uplo, int n, T const* a, int lda,
                                                     detail::RealOf<T>* work = nullptr);

}  // namespace granary::blas
