// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/kernels/tile_view.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace granary::kernels {

/// The rows of V, and those of C (if H is on the right: its columns) that they act on. V has an identity, a triangle,
/// or both, and may have a rectangle. Views of what it does not have are null.
template <class T>
struct ReflectorRows {
  detail::TileView<T> beside_identity{};  ///< the identity itself is not stored

  /// The parts of the rectangle, which may lie in several tiles, and the rows beside each.
  std::vector<std::pair<detail::TileView<T const>, detail::TileView<T>>> rectangles{};

  /// Lower with ones on its diagonal, which are not read, or upper with any diagonal. It is square; if C has fewer rows
  /// beside it, the last rows of the triangle are zero.
  Uplo uplo = Uplo::Upper;
  detail::TileView<T const> triangle{};
  detail::TileView<T> beside_triangle{};
};

/// C := H C (left) or C H (right) for a block of reflectors H = I - V T V^H, or for its adjoint I - V T^H V^H. Below
/// the diagonal of T nothing is read.
///
/// The products are those of Algorithm 2 of the Hierarchical paper: W := V^H C, then C := C - V (T W), with GEMM for
/// the rectangle of V. For GPUs, that algorithm also multiplies by T with GEMM. On hosts TRMM is faster, because it has
/// half the flops; and since it works in place, W is the only workspace. With tiles of 512 and T of order 64, TSMQR
/// takes 2 % less time.
///
/// W = V^H C (right: C V) has the layout of C. It is stored as it is if H is on the left of a column-major C, or on the
/// right of a row-major one; otherwise W^H is stored. Then no operand must be conjugated without being transposed, for
/// which BLAS has no flag, provided that V has the layout of C.
template <class T>
struct BlockReflector {
  Side side;
  bool adjoint;
  detail::TileView<T const> t;

  /// Entries of the workspace if C has `lines` columns (right: rows) and V has `order` columns.
  [[nodiscard]] static std::size_t workspace(int lines, int order);

  void apply(ReflectorRows<T> const& rows, T* workspace) const;
};

}  // namespace granary::kernels
