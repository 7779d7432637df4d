// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/kernels/tile_view.hpp>

#include <cstddef>

namespace granary::kernels {

/// V, and the rows of C (if H is on the right: its columns) that its rows act on. Up to three kinds of rows, of which
/// the first or the last are there; views that are null are not.
template <class T>
struct ReflectorRows {
  detail::TileView<T> beside_identity{};

  detail::TileView<T const> rectangle{};
  detail::TileView<T> beside_rectangle{};

  /// Lower with ones on the diagonal that are not stored, or upper. Nothing else of it is read. It is square; if C has
  /// fewer rows, the last rows of the triangle are zero.
  Uplo uplo = Uplo::Upper;
  detail::TileView<T const> triangle{};
  detail::TileView<T> beside_triangle{};
};

/// A product of reflectors H = I - V T V^H, or its adjoint I - V T^H V^H, with an upper triangle T, below which nothing
/// is read: C := H C or C H.
///
/// As Algorithm 2 of the Hierarchical paper, W := V^H C, and then C -= V (T W), by GEMM where V is a rectangle. That
/// algorithm, for GPUs, multiplies by T with GEMM too. On hosts TRMM is the faster one, and works in place: with tiles
/// of 512 and triangles of 64, TSMQR takes 2 % less time, and half the workspace.
///
/// The memory of W (right: W^H) is column-major if C is, and that of W^H (right: W) row-major if C is. Then no operand
/// must be conjugated without being transposed, which no BLAS does, if V has the layout of C.
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
