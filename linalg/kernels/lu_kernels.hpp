// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/kernels/tile_kernels.hpp>

#include <span>
#include <utility>

#pragma GCC visibility push(default)

/// Kernels of LU factorizations; see tile_kernels.hpp for what holds for all kernels.
namespace granary::kernels {

/// What a factorization without pivoting does about pivots that it cannot divide by.
enum class BadPivot {
  Stop,  ///< ends at the first whose modulus is below the limit or not finite
  Skip,  ///< leaves the column below an exact zero as it is, as LAPACK does, and goes on
};

/// A := L U in place without pivoting, L with a unit diagonal that is not stored; m x n, either may be larger. Returns
/// 0, or k > 0 for the first pivot a(k-1, k-1) that is bad: one below max(`limit`, smallest normal number) or not
/// finite (Stop; A is partly overwritten then), or an exact zero (Skip). m n² - n³/3 flops for m >= n.
///
/// Recursive: the columns are halved, TRSM and GEMM bring the right half up to date. Diagonal blocks of order 32 are
/// factored by loops in a copy.
template <class T>
[[nodiscard]] int getrf_nopiv(BadPivot policy, RealOf<typename NotDeduced<T>::type> limit, TileView<T> a);

/// B := B U^-1 with the upper triangle of A, U, which may have zeros on its diagonal: the columns of B that would be
/// divided by them are not divided. m n² flops.
template <class T>
void trsm_ru_skip(ConstTileView<T> a, TileView<T> b);

/// The same for rows that a tournament did not choose as pivots. Where U has a small pivot because the panel has not
/// full rank to working precision, a row's numerators there are rounding errors, and dividing them could give entries,
/// and with them errors, of any size. Such entries become 0: a change of B within the rounding errors of its products,
/// entry by entry. Rows without entries above 16 are as trsm_ru_skip has them. In groups of 64 rows, which are copied.
template <class T>
void trsm_ru_bounded(ConstTileView<T> a, TileView<T> b);

/// As getrf_nopiv with BadPivot::Skip, for rows that a tournament put in order, and with the same care for rounding
/// errors; `workspace` has room for A's elements. Returns 0, or k > 0 for the first pivot that is exactly zero.
template <class T>
[[nodiscard]] int getrf_bounded(TileView<T> a, T* workspace);

/// Exchanges row `first` of A with row `second` of B, pair by pair in turn. A and B have the same layout and as many
/// columns, and may be one.
template <class T>
void swap_rows(std::span<std::pair<int, int> const> pairs, TileView<T> a, TileView<T> b);

}  // namespace granary::kernels

#pragma GCC visibility pop
