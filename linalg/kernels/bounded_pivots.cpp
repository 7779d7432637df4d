// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/lu_kernels.hpp>
#include <granary/detail/linalg/kernels/portable/lu_blocks.hpp>

#include <algorithm>
#include <type_traits>

namespace granary::kernels {
namespace {

// |a_jj|, the sum of the moduli of its terms, in A's factors.
template <class T>
[[nodiscard]] RealOf<T> size_of_pivot(TileView<T> const& a, int j) {
  RealOf<T> size = modulus(a(j, j));
  for (int k = 0; k < j; ++k) size += modulus(T(a(j, k) * a(k, j)));
  return size;
}

template <class T>
[[nodiscard]] bool has_bounded_pivots(TileView<T> const& a) {
  for (int j = 0; j < std::min(a.rows, a.cols); ++j) {
    if (!portable::is_bounded<T>(a(j, j), size_of_pivot(a, j), j + 1)) return false;
  }
  return true;
}

// A row of L, for at most the first a.cols pivots, followed by a row of U.
template <class T>
void factor_row(TileView<T const> const& before, TileView<T> const& a, int i) {
  for (int j = 0; j < a.cols; ++j) {
    T value = before(i, j);
    RealOf<T> size = modulus(value);
    for (int k = 0; k < std::min(i, j); ++k) {
      T const product = a(i, k) * a(k, j);
      value -= product;
      size += modulus(product);
    }
    if (i == j) value = portable::bounded_pivot<T>(value, size, j + 1);
    a(i, j) = i > j && !(a(j, j) == T(0)) ? value / a(j, j) : value;
  }
}

}  // namespace

template <class T>
int getrf_bounded(TileView<T> a, T* workspace) {
  TileView<T> const before{workspace, a.rows, a.cols, a.cols, Layout::RowMajor};
  copy<T, T>(MatrixPart::All, false, a, before);
  int const found = getrf_nopiv<T>(BadPivot::Skip, 0, a);
  if (has_bounded_pivots(a)) return found;
  for (int i = 0; i < a.rows; ++i) factor_row<T>(before, a, i);
  for (int k = 0; k < std::min(a.rows, a.cols); ++k) {
    if (a(k, k) == T(0)) return k + 1;
  }
  return 0;
}

#define GRANARY_INSTANTIATE(T) template int getrf_bounded(TileView<T>, std::add_pointer_t<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
