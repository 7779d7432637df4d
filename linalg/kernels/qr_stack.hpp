// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <cstddef>
#include <span>

/// Kernels of a QR factorization by panels, which are columns of tiles, one below the other: as many rows each, fewer
/// in the last one. The result is LAPACK's: R, the vectors below it, and their factors tau. A panel of m x n has k =
/// min(m, n) reflectors, whose product is I - V T V^H with an upper triangle T of order k (compact WY).
namespace granary::kernels {

/// Entries in the workspace of qr_panel.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t qr_panel_workspace(int rows, int cols);

/// A := Q R as by LAPACK's geqrf; tau gets k rows of a column, `t` the triangle T in a tile of as many rows and columns
/// or more, whose other entries stay. In a column-major copy, unless the panel is column-major already. 2 n² (m - n/3)
/// flops, and m k² for T.
template <class T>
GRANARY_EXPORT void qr_panel(std::span<detail::TileView<T> const> panel, detail::TileView<T> tau, detail::TileView<T> t,
                             typename detail::NotDeduced<T>::type* workspace);

/// Entries in the workspace of qr_triangle.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t qr_triangle_workspace(int rows, int cols);

/// The triangle T of the vectors of a factored panel and of tau, as LAPACK's larft: T⁻¹ = D⁻¹ + U, D having tau on its
/// diagonal and U being the strict upper triangle of V^H V (Puglisi: Modification of the Householder method based on
/// the compact WY representation, SIAM J. Sci. Stat. Comput. 13, 1992). m k² flops.
template <class T>
GRANARY_EXPORT void qr_triangle(std::span<detail::TileView<T const> const> panel,
                                typename detail::NotDeduced<detail::TileView<T const>>::type tau, detail::TileView<T> t,
                                typename detail::NotDeduced<T>::type* workspace);

/// Entries in the workspace of apply_panel for C with `lines` columns.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t apply_panel_workspace(int reflectors, int lines);

/// C := op(Q) C with Q of a panel and its T; the stack C has as many tiles with the same rows. op is NoTrans or
/// ConjTrans, or Trans if T is real. 4 m k flops for each column of C. Each tile of C is passed over twice.
template <class T>
GRANARY_EXPORT void apply_panel(Op op, std::span<detail::TileView<T const> const> panel,
                                typename detail::NotDeduced<detail::TileView<T const>>::type t,
                                std::span<detail::TileView<T> const> c,
                                typename detail::NotDeduced<T>::type* workspace);

}  // namespace granary::kernels
