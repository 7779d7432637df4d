// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/scalar.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

/// The implementation of each tile operation:
///
///   operation                 host workers                           devices
///   gemm                      Kokkos Kernels on the BLAS; the BLAS   the vendor's library; portable/product.hpp for
///                             itself where Kokkos Kernels is         products that it lacks
///                             missing or was built without one
///   trsm                      substitution.hpp and gemm; like gemm   the vendor's library
///                             for few right-hand sides
///   herk, syrk, hemm, trmm    BLAS                                   the vendor's library
///   potrf                     LAPACK                                 the vendor's library (device/lane_blas.hpp)
///   trtri, lauum              portable/inverse.hpp on the BLAS       the same on the vendor's library
///   getrf_nopiv, getrf        lu_kernels.hpp, on gemm and trsm       device/lane_lu.hpp, on the vendor's library
///   geqrt, tsqrt, ttqrt, ...  qr_kernels.hpp, on gemm and trmm       none
///   copy, set, add, norms     elementwise_kernels.hpp                portable/elementwise.hpp
///
/// GEMM and the library's TRSM are chosen here, for all kernels on host tiles. The portable
/// kernels run on any Kokkos execution space.
namespace granary::kernels {

/// A column-major matrix as BLAS sees it.
template <class T>
struct GRANARY_EXPORT Block {
  T* data;
  int rows, cols, ld;

  [[nodiscard]] Block sub(int row, int col, int row_count, int col_count) const {
    return {data + row + static_cast<std::ptrdiff_t>(col) * ld, row_count, col_count, ld};
  }
  operator Block<T const>() const requires(!std::is_const_v<T>) { return {data, rows, cols, ld}; }
};

/// C := alpha op(A) op(B) + beta C. If beta is 0, C's old values do not count, even if A has no columns.
template <class T>
GRANARY_EXPORT void chosen_gemm(Op op_a, Op op_b, T alpha, Block<T const> a, Block<T const> b, T beta, Block<T> c);

/// B := alpha op(A)^-1 B or alpha B op(A)^-1, A triangular.
template <class T>
GRANARY_EXPORT void chosen_trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, Block<T const> a, Block<T> b);

}  // namespace granary::kernels

namespace granary {

/// The library that computes tiles on host workers: Kokkos Kernels or BLAS and LAPACK. For versions and logs.
[[nodiscard]] GRANARY_EXPORT std::string host_kernels_description();

}  // namespace granary
