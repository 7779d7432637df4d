// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <cstddef>
#include <functional>

/// One step of a QR factorization that keeps R alone (TSQR with a flat tree: Demmel, Grigori, Hoemmen, Langou:
/// Communication-optimal parallel and sequential QR and LU factorizations, SIAM J. Sci. Comput. 34, 2012, section 5).
namespace granary::kernels {

/// Fills a slice with rows [first, first + slice.rows) of a matrix. The slice is column-major.
template <class T>
using LoadRows = std::function<void(int first, detail::TileView<T> slice)>;

/// Entries in the workspace of fold_rows for R of order `cols`.
template <class T>
[[nodiscard]] GRANARY_EXPORT std::size_t fold_workspace(int cols);

/// R := the triangle of [R; S] = Q R' for `rows` rows S, which are loaded a slice after the other and are not changed.
/// Slices fit in a core's cache if R has few columns. R is square; below its diagonal nothing is read or written. 2 m
/// n² flops for m rows.
template <class T>
GRANARY_EXPORT void fold_rows(detail::TileView<T> r, int rows,
                              LoadRows<typename detail::NotDeduced<T>::type> const& load,
                              typename detail::NotDeduced<T>::type* workspace);

}  // namespace granary::kernels
