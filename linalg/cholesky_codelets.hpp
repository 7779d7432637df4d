// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/submitter.hpp>
#include <granary/linalg/kernels/tile_kernels.hpp>

#include <cstdint>

namespace granary {

/// What a tile kernel is told besides its tiles' addresses: sizes, leading dimensions in elements, and the layout of
/// all its tiles.
struct TileCall {
  std::int32_t m = 0;
  std::int32_t n = 0;
  std::int32_t k = 0;
  std::int32_t lda = 0;
  std::int32_t ldb = 0;
  std::int32_t ldc = 0;
  Layout layout = Layout::RowMajor;
  std::uint64_t first = 0;  ///< the tile's first row in the matrix, for messages
};

/// The codelets of a tiled Cholesky factorization in the lower form, in the order of their accesses:
///   potrf  A (n x n, lower triangle, read-write)              A := L with A = L Lᵀ; 1/3 n³ flops
///   trsm   L (n x n, lower triangle, read), B (m x n, rw)     B := B L⁻ᵀ; m n² flops
///   syrk   A (n x k, read), C (n x n, lower triangle, rw)     C := C - A Aᵀ; n (n+1) k flops
///   gemm   A (m x k, read), B (n x k, read), C (m x n, rw)    C := C - A Bᵀ; 2 m n k flops
/// One set serves any number of factorizations on its submitter, which so learns their times once.
struct CholeskyCodelets {
  CodeletId potrf;
  CodeletId trsm;
  CodeletId syrk;
  CodeletId gemm;
};

template <class T>
[[nodiscard]] CholeskyCodelets add_cholesky_codelets(Submitter& submitter);
extern template CholeskyCodelets add_cholesky_codelets<float>(Submitter&);
extern template CholeskyCodelets add_cholesky_codelets<double>(Submitter&);

}  // namespace granary
