// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/kernels/elementwise_kernels.hpp>
#include <granary/linalg/kernels/lu_kernels.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

namespace granary::kernels {
namespace {

// Rows solved at a time, which are copied in case they must be solved again.
constexpr int rows_at_a_time = 64;
// Upper limit of the multipliers that tournaments leave in panels of full rank.
constexpr double usual_multiplier = 16;

template <class T>
[[nodiscard]] TileView<T> rows_of(TileView<T> const& b, int first, int count) {
  return {&b(first, 0), count, b.cols, b.ld, b.layout};
}

// One row of B U^-1 with a square triangle U; `row` has its old values. An entry whose modulus would exceed 1 and whose
// numerator is not above its rounding errors, γ_j (|b_j| + Σ |l_k| |u_kj|), becomes 0.
template <class T>
void solve_row(TileView<T const> const& u, TileView<T const> const& row, TileView<T> const& l) {
  using R = RealOf<T>;
  for (int j = 0; j < u.cols; ++j) {
    T rest = row(0, j);
    R size = modulus(rest);
    for (int k = 0; k < j; ++k) {
      T const product = l(0, k) * u(k, j);
      rest -= product;
      size += modulus(product);
    }
    T const pivot = u(j, j);
    bool const is_rounding_error = modulus(rest) <= static_cast<R>(j + 1) * std::numeric_limits<R>::epsilon() * size;
    if (pivot == T(0)) {
      l(0, j) = rest;
    } else {
      l(0, j) = is_rounding_error && modulus(rest) > modulus(pivot) ? T(0) : rest / pivot;
    }
  }
}

template <class T>
[[nodiscard]] bool has_usual_multipliers(TileView<T> const& a) {
  for (int i = 1; i < a.rows; ++i) {
    for (int j = 0; j < std::min(i, a.cols); ++j) {
      if (!(modulus(a(i, j)) <= usual_multiplier)) return false;
    }
  }
  return true;
}

// A row of L, for at most the first a.cols pivots, followed by a row of U.
template <class T>
void factor_row(TileView<T const> const& before, TileView<T> const& a, int i) {
  int const pivots = std::min(i, a.cols);
  TileView<T const> const u{a.data, pivots, pivots, a.ld, a.layout};
  solve_row<T>(u, rows_of(before, i, 1), rows_of(a, i, 1));
  for (int j = pivots; j < a.cols; ++j) {
    T value = before(i, j);
    for (int k = 0; k < pivots; ++k) value -= a(i, k) * a(k, j);
    a(i, j) = value;
  }
}

}  // namespace

template <class T>
int getrf_bounded(TileView<T> a, T* workspace) {
  TileView<T> const before{workspace, a.rows, a.cols, a.cols, Layout::RowMajor};
  copy<T, T>(MatrixPart::All, false, a, before);
  int const zero = getrf_nopiv<T>(BadPivot::Skip, 0, a);
  if (has_usual_multipliers(a)) return zero;
  for (int i = 0; i < a.rows; ++i) factor_row<T>(before, a, i);
  for (int k = 0; k < std::min(a.rows, a.cols); ++k) {
    if (a(k, k) == T(0)) return k + 1;
  }
  return 0;
}

template <class T>
void trsm_ru_bounded(ConstTileView<T> u, TileView<T> b) {
  std::vector<T> memory(static_cast<std::size_t>(std::min(b.rows, rows_at_a_time)) * static_cast<std::size_t>(b.cols));
  for (int i = 0; i < b.rows; i += rows_at_a_time) {
    auto const rows = rows_of(b, i, std::min(rows_at_a_time, b.rows - i));
    TileView<T> const before{memory.data(), rows.rows, rows.cols, rows.cols, Layout::RowMajor};
    copy<T, T>(MatrixPart::All, false, rows, before);
    trsm_ru_skip<T>(u, rows);
    if (max_modulus<T>({}, rows) <= usual_multiplier) continue;
    for (int r = 0; r < rows.rows; ++r) {
      auto const row = rows_of(rows, r, 1);
      if (!(max_modulus<T>({}, row) <= usual_multiplier)) solve_row<T>(u, rows_of(before, r, 1), row);
    }
  }
}

#define GRANARY_INSTANTIATE(T)                                    \
  template int getrf_bounded(TileView<T>, std::add_pointer_t<T>); \
  template void trsm_ru_bounded(TileView<T const>, TileView<T>);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
