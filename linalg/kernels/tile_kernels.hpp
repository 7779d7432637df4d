// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/kernels/tile_view.hpp>

namespace granary {

/// Kernels on tiles; T is float, double, Kokkos::complex<float> or Kokkos::complex<double>. kernel_choice.hpp lists the
/// implementations. The operands of one call may differ in layout: BLAS flags cover nearly every combination, and
/// nothing is transposed in memory. If a complex operand must be conjugated but not transposed, either the output is
/// conjugated before and after (trsm, trmm, herk), or the operand is copied in panels of 64 columns or rows (gemm,
/// hemm).
///
/// If beta is 0, the old values of outputs do not count. Sizes of zero are allowed. Operands whose sizes do not match,
/// or an ld below the length of a column (row), throw InvalidArgument. Several threads may call them on different
/// tiles; kernels do not fence, and launch no Kokkos kernels.
namespace kernels {

/// Cholesky factorization in place: A = L L^H (lower) or A = U^H U (upper); the other triangle is not referenced.
/// Returns 0, or k > 0 if pivot k is not positive or is NaN, as in LAPACK, even if the BLAS library ignores NaN (A is
/// then partly overwritten). n^3/3 flops.
template <class T>
[[nodiscard]] GRANARY_EXPORT int potrf(Uplo uplo, detail::TileView<T> a);

/// Inverse X of a triangle in place; the other triangle is not referenced. |X A - I| <= c n u |X| |A| in each entry, u
/// the rounding error of an operation, as of LAPACK's; for A X in place of X A invert the transpose, that is, the other
/// triangle in the other layout. Returns 0, or k > 0 if diagonal entry k is zero (A is then unchanged). n^3/3 flops.
template <class T>
[[nodiscard]] GRANARY_EXPORT int trtri(Uplo uplo, Diag diag, detail::TileView<T> a);

/// A := L^H L (lower) or U U^H (upper) of the triangle in A; the other one is not referenced. The diagonal of A
/// must be real, as in a Cholesky factor's inverse; the result's is. n^3/3 flops.
template <class T>
GRANARY_EXPORT void lauum(Uplo uplo, detail::TileView<T> a);

/// Solves op(A) X = alpha B (left) or X op(A) = alpha B (right), A triangular; X overwrites B. m n^2 flops.
///
/// Recursive: the triangle is halved, and GEMM updates the block between the halves. Diagonal blocks of order 32 are
/// solved by substitution on vectors of right-hand sides (substitution.hpp), because the TRSM of BLAS libraries is
/// often far slower than their GEMM (see bench/kernels); for fewer than 8 right-hand sides, by the library's TRSM.
///
/// Nothing is inverted but single pivots, so the error is as in substitution whatever the condition of A: |alpha B -
/// op(A) X| <= γ_n |op(A)| |X| in each entry (Higham, Accuracy and Stability, theorem 8.5). docs/accuracy.md compares
/// it with LAPACK's.
template <class T>
GRANARY_EXPORT void trsm(Side side, Uplo uplo, Op op, Diag diag, typename detail::NotDeduced<T>::type alpha,
                         detail::ConstTileView<T> a, detail::TileView<T> b);

/// C := alpha op(A) op(A)^H + beta C on one triangle of C, op(A) being A or A^H; the other is not referenced. Where T
/// is real, SYRK. n^2 k flops.
template <class T>
GRANARY_EXPORT void herk(Uplo uplo, Op op, detail::RealOf<typename detail::NotDeduced<T>::type> alpha,
                         detail::ConstTileView<T> a, detail::RealOf<typename detail::NotDeduced<T>::type> beta,
                         detail::TileView<T> c);

/// C := alpha A B + beta C (left) or alpha B A + beta C (right) with A Hermitian, of which only the triangle `uplo` is
/// referenced. 2 m n k flops, k the order of A.
template <class T>
GRANARY_EXPORT void hemm(Side side, Uplo uplo, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
                         detail::ConstTileView<T> b, typename detail::NotDeduced<T>::type beta, detail::TileView<T> c);

/// B := alpha op(A) B (left) or alpha B op(A) (right) with A triangular. m n k flops, k the order of A.
template <class T>
GRANARY_EXPORT void trmm(Side side, Uplo uplo, Op op, Diag diag, typename detail::NotDeduced<T>::type alpha,
                         detail::ConstTileView<T> a, detail::TileView<T> b);

/// C := alpha op(A) op(A)^T + beta C on one triangle of C, op(A) being A or A^T; the other is not referenced. n^2 k
/// flops.
template <class T>
GRANARY_EXPORT void syrk(Uplo uplo, Op op, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
                         typename detail::NotDeduced<T>::type beta, detail::TileView<T> c);

/// C := alpha op(A) op(B) + beta C. 2 m n k flops.
template <class T>
GRANARY_EXPORT void gemm(Op op_a, Op op_b, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
                         detail::ConstTileView<T> b, typename detail::NotDeduced<T>::type beta, detail::TileView<T> c);

}  // namespace kernels

}  // namespace granary
