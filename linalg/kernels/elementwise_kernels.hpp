// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/kernels/tile_kernels.hpp>
#include <granary/linalg/tile_grid.hpp>

#pragma GCC visibility push(default)

/// Kernels that pass once over the elements of a tile, in any layouts; T is one of the four scalars. A part is that of
/// the tile itself, also a trapezoid: Lower has the elements (i, j) with i >= j. Tiles of different sizes throw
/// InvalidArgument. They launch no Kokkos kernels and allocate nothing.
namespace granary::kernels {

/// B := A, or its conjugate, on one part; the rest of B stays. From and To are both real or both complex; a value that
/// To cannot hold becomes infinite, as the language converts it.
template <class From, class To>
void copy(MatrixPart part, bool conjugated, TileView<From const> a, TileView<To> b);

/// One value on the diagonal and one elsewhere, on one part; the rest stays.
template <class T>
void set(MatrixPart part, T off_diagonal, T diagonal, TileView<T> a);

/// Zeros what is outside one part.
template <class T>
void clear_outside(MatrixPart part, TileView<T> a);

/// B := alpha A + beta B on one part; the rest of B stays. B's old values count for nothing where beta is 0.
template <class T>
void add(MatrixPart part, typename NotDeduced<T>::type alpha, ConstTileView<T> a, typename NotDeduced<T>::type beta,
         TileView<T> b);

/// A sum of squares that neither overflows nor underflows: scale² sum.
struct ScaledSquares {
  double scale = 1;
  double sum = 0;

  void add(ScaledSquares const& other);
  /// The square root of the sum.
  [[nodiscard]] double root() const;
};

/// Which elements a norm counts: one part; or, if hermitian, those of the Hermitian matrix of which that triangle is
/// stored, with a real diagonal (imaginary parts there are not looked at).
struct NormPart {
  MatrixPart part = MatrixPart::All;
  bool hermitian = false;
};

/// max |a_ij|; NaN if an element is NaN.
template <class T>
[[nodiscard]] double max_modulus(NormPart part, TileView<T const> a);

/// Σ |a_ij|², for the Frobenius norm.
template <class T>
[[nodiscard]] ScaledSquares sum_of_squares(NormPart part, TileView<T const> a);

/// columns[j] := Σ_i |a_ij| and, unless `rows` is null, rows[i] := Σ_j |a_ij|. Of a Hermitian tile both are the same:
/// `rows` is then not used.
template <class T>
void sums_of_moduli(NormPart part, TileView<T const> a, double* columns, double* rows);

/// The larger one; NaN if either is NaN.
[[nodiscard]] inline double max_or_nan(double a, double b) { return a >= b || a != a ? a : b; }

}  // namespace granary::kernels

#pragma GCC visibility pop
