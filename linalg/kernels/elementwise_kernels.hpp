// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

/// Kernels that pass once over the elements of a tile in any layout; T is one of the four scalars. A part is a part of
/// the tile itself, which may be a trapezoid: Lower has the elements (i, j) with i >= j. Tiles of different sizes throw
/// InvalidArgument. They launch no Kokkos kernels and allocate nothing.
namespace granary::kernels {

/// B := A, or its conjugate, on one part; the rest of B stays. From and To are both real or both complex; a value that
/// overflows To becomes infinite.
template <class From, class To>
GRANARY_EXPORT void copy(MatrixPart part, bool conjugated, detail::TileView<From const> a, detail::TileView<To> b);

/// One value on the diagonal and one elsewhere, on one part; the rest stays.
template <class T>
GRANARY_EXPORT void set(MatrixPart part, T off_diagonal, T diagonal, detail::TileView<T> a);

/// Zeros the elements outside one part.
template <class T>
GRANARY_EXPORT void clear_outside(MatrixPart part, detail::TileView<T> a);

/// B := alpha A + beta B on one part; the rest of B stays. If beta is 0, B's old values do not count.
template <class T>
GRANARY_EXPORT void add(MatrixPart part, typename detail::NotDeduced<T>::type alpha, detail::ConstTileView<T> a,
                        typename detail::NotDeduced<T>::type beta, detail::TileView<T> b);

/// d(j) += Σ_i |a_ij|², or := if it is the `first` tile, for a column d with a row for each column of A. Sums are taken
/// in T.
template <class T>
GRANARY_EXPORT void add_column_squares(bool first, detail::TileView<T const> a, detail::TileView<T> d);

/// A sum of squares that neither overflows nor underflows: scale² sum.
struct GRANARY_EXPORT ScaledSquares {
  double scale = 1;
  double sum = 0;

  void add(ScaledSquares const& other);
  /// The square root of the sum.
  [[nodiscard]] double root() const;
};

/// The elements that a norm counts: one part; or, if hermitian, the Hermitian matrix stored in that triangle. Its
/// diagonal is real (imaginary parts there are ignored).
struct GRANARY_EXPORT NormPart {
  MatrixPart part = MatrixPart::All;
  bool hermitian = false;
};

/// max |a_ij|; NaN if an element is NaN.
template <class T>
[[nodiscard]] GRANARY_EXPORT double max_modulus(NormPart part, detail::TileView<T const> a);

/// Σ |a_ij|², for the Frobenius norm.
template <class T>
[[nodiscard]] GRANARY_EXPORT ScaledSquares sum_of_squares(NormPart part, detail::TileView<T const> a);

/// columns[j] := Σ_i |a_ij| and, unless `rows` is null, rows[i] := Σ_j |a_ij|. For a Hermitian tile both are equal, and
/// `rows` is not used.
template <class T>
GRANARY_EXPORT void sums_of_moduli(NormPart part, detail::TileView<T const> a, double* columns, double* rows);

/// The larger one; NaN if either is NaN.
[[nodiscard]] inline double max_or_nan(double a, double b) { return a >= b || a != a ? a : b; }

}  // namespace granary::kernels
