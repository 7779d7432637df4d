// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <span>
#include <utility>
#include <vector>

/// Kernels of LU factorizations; see tile_kernels.hpp for the common properties of all kernels.
namespace granary::kernels {

/// How a factorization without pivoting treats pivots that it cannot divide by.
enum class GRANARY_EXPORT BadPivot {
  Stop,  ///< stops at the first pivot whose modulus is below the limit or not finite
  Skip,  ///< leaves the column below an exact zero unchanged, as LAPACK does, and continues
};

/// A := L U in place without pivoting, L with a unit diagonal that is not stored; m x n, either may be larger. Returns
/// 0, or k > 0 for the first bad pivot a(k-1, k-1). Stop: a modulus below max(`limit`, smallest normal number) or not
/// finite; A is then partly overwritten. Skip: an exact zero. m n² - n³/3 flops for m >= n.
///
/// Recursive: the columns are halved, and TRSM and GEMM update the right half. Diagonal blocks of order 32 are factored
/// by loops in a copy.
template <class T>
[[nodiscard]] GRANARY_EXPORT int getrf_nopiv(BadPivot policy,
                                             detail::RealOf<typename detail::NotDeduced<T>::type> limit,
                                             detail::TileView<T> a);

/// B := B U^-1 with the upper triangle U of A, which may have zeros on its diagonal: the columns of B for these are not
/// divided. m n² flops.
template <class T>
GRANARY_EXPORT void trsm_ru_skip(detail::ConstTileView<T> a, detail::TileView<T> b);

/// Like getrf_nopiv with BadPivot::Skip, for rows in the order of a tournament, with pivots that are not below their
/// rounding errors; `workspace` has room for A's elements. If the panel is rank-deficient to working precision, a pivot
/// may be a rounding error by chance smaller than those in rows that were not chosen. Divided by it, these could become
/// entries of L, and errors, of any size. So a pivot below √j u s / 2 gets this modulus, s being the sum of the moduli
/// of its j terms: A changes by no more than a rounding of that pivot. Exact zeros stay zeros. Returns 0, or k > 0 for
/// the first of them.
template <class T>
[[nodiscard]] GRANARY_EXPORT int getrf_bounded(detail::TileView<T> a, T* workspace);

/// Exchanges of rows of a tile A: row `first` of A with row `second` of B, for each pair in order. B has the layout of
/// A and as many columns, and may be A.
template <class T>
struct GRANARY_EXPORT RowSwaps {
  std::vector<std::pair<int, int>> pairs;
  detail::TileView<T> b;
};

/// Performs all exchanges in order. Column-major tiles are passed through once, column by column: each column of A
/// stays in the nearest cache, and those that follow are prefetched.
template <class T>
GRANARY_EXPORT void swap_rows(detail::TileView<T> a,
                              std::span<RowSwaps<typename detail::NotDeduced<T>::type> const> swaps);

}  // namespace granary::kernels
