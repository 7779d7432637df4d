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
[[nodiscard]] detail::RealOf<T> size_of_pivot(detail::TileView<T> const& a, int j) {
  detail::RealOf<T> size = detail::modulus(a(j, j));
  for (int k = 0; k < j; ++k) size += detail::modulus(T(a(j, k) * a(k, j)));
  return size;
}

template <class T>
[[nodiscard]] bool has_bounded_pivots(detail::TileView<T> const& a) {
  for (int j = 0; j < std::min(a.rows, a.cols); ++j) {
    if (!portable::is_bounded<T>(a(j, j), size_of_pivot(a, j), j + 1)) return false;
  }
  return true;
}

// A row of L, for at most the first a.cols pivots, followed by a row of U.
template <class T>
void factor_row(detail::TileView<T const> const& before, detail::TileView<T> const& a, int i) {
  for (int j = 0; j < a.cols; ++j) {
    T value = before(i, j);
    detail::RealOf<T> size = detail::modulus(value);
    for (int k = 0; k < std::min(i, j); ++k) {
      T const product = a(i, k) * a(k, j);
      value -= product;
      size += detail::modulus(product);
    }
    if (i == j) value = portable::bounded_pivot<T>(value, size, j + 1);
    a(i, j) = i > j && !(a(j, j) == T(0)) ? value / a(j, j) : value;
  }
}

}  // namespace

template <class T>
int getrf_bounded(detail::TileView<T> a, T* workspace) {
  detail::TileView<T> const before{workspace, a.rows, a.cols, a.cols, detail::TileLayout::RowMajor};
  copy<T, T>(MatrixPart::All, false, a, before);
  int const found = getrf_nopiv<T>(BadPivot::Skip, 0, a);
  if (has_bounded_pivots(a)) return found;
  for (int i = 0; i < a.rows; ++i) factor_row<T>(before, a, i);
  for (int k = 0; k < std::min(a.rows, a.cols); ++k) {
    if (a(k, k) == T(0)) return k + 1;
  }
  return 0;
}

#define GRANARY_INSTANTIATE(T) template int getrf_bounded(detail::TileView<T>, std::add_pointer_t<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
