// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/lu_kernels.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace granary::kernels {
namespace {

// Order of the diagonal blocks that are factored by loops; trsm solves blocks of the same order by loops.
constexpr int block_order = 32;
// Columns between the one whose rows are exchanged and the one that is prefetched.
constexpr int columns_prefetched = 2;

template <class T>
[[nodiscard]] bool divides(T const& pivot) {
  return detail::modulus(pivot) >= std::numeric_limits<detail::RealOf<T>>::min();
}

template <class T>
[[nodiscard]] bool divides_everywhere(detail::TileView<T const> const& upper) {
  for (int j = 0; j < upper.cols; ++j) {
    if (!divides(upper(j, j))) return false;
  }
  return true;
}

// Divides the entries below a pivot; the reciprocal of a subnormal pivot would overflow.
template <class T>
void divide(T* entries, int count, T const& pivot) {
  if (divides(pivot)) {
    T const reciprocal = T(1) / pivot;
    for (int i = 0; i < count; ++i) entries[i] *= reciprocal;
  } else {
    for (int i = 0; i < count; ++i) entries[i] /= pivot;
  }
}

template <class T>
[[nodiscard]] bool is_bad(BadPivot policy, detail::RealOf<T> limit, T const& pivot) {
  if (policy == BadPivot::Skip) return pivot == T(0);
  auto const size = detail::modulus(pivot);
  return !(size >= limit) || !std::isfinite(size);
}

// A square block of order <= block_order, in a column-major copy.
template <class T>
[[nodiscard]] int factor_block(BadPivot policy, detail::RealOf<T> limit, detail::TileView<T> const& a) {
  int const n = a.cols;
  std::array<T, std::size_t{block_order} * block_order> memory;
  detail::TileView<T> const block{memory.data(), n, n, block_order, detail::TileLayout::ColumnMajor};
  copy<T, T>(MatrixPart::All, false, a, block);
  int bad = 0;
  for (int k = 0; k < n; ++k) {
    T const pivot = block(k, k);
    T* const below = &block(k, k) + 1;
    int const rest = n - 1 - k;
    if (is_bad(policy, limit, pivot)) {
      if (bad == 0) bad = k + 1;
      if (policy == BadPivot::Stop) break;
    } else {
      divide(below, rest, pivot);
    }
    for (int j = k + 1; j < n; ++j) {
      T const factor = block(k, j);
      T* const column = &block(k, j) + 1;
      for (int i = 0; i < rest; ++i) column[i] -= below[i] * factor;
    }
  }
  copy<T, T>(MatrixPart::All, false, block, a);
  return bad;
}

template <class T>
[[nodiscard]] int factor(BadPivot policy, detail::RealOf<T> limit, detail::TileView<T> const& a) {
  int const m = a.rows, n = a.cols;
  if (n <= block_order && m >= n) {
    int const bad = factor_block(policy, limit, sub(a, 0, 0, n, n));
    if (bad > 0 && policy == BadPivot::Stop) return bad;
    trsm_ru_skip<T>(sub(a, 0, 0, n, n), sub(a, n, 0, m - n, n));
    return bad;
  }
  int const square = std::min(m, n);
  int const h = n > m ? m : (square / 2 + block_order - 1) / block_order * block_order;
  auto const left = sub(a, 0, 0, m, h);
  int const bad = factor(policy, limit, left);
  if (bad > 0 && policy == BadPivot::Stop) return bad;
  auto const right = sub(a, 0, h, h, n - h);
  trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), sub(left, 0, 0, h, h), right);
  if (h == m) return bad;
  auto const rest = sub(a, h, h, m - h, n - h);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), sub(left, h, 0, m - h, h), right, T(1), rest);
  int const later = factor(policy, limit, rest);
  return bad > 0 ? bad : later > 0 ? h + later : 0;
}

// The slow path of trsm_ru_skip.
template <class T>
void solve_skipping(detail::TileView<T const> const& a, detail::TileView<T> const& b) {
  int const n = a.cols;
  if (n > block_order) {
    int const h = n / 2;
    auto const first = sub(b, 0, 0, b.rows, h), last = sub(b, 0, h, b.rows, n - h);
    trsm_ru_skip<T>(sub(a, 0, 0, h, h), first);
    gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), first, sub(a, 0, h, h, n - h), T(1), last);
    trsm_ru_skip<T>(sub(a, h, h, n - h, n - h), last);
    return;
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < b.rows; ++i) {
      for (int k = 0; k < j; ++k) b(i, j) -= b(i, k) * a(k, j);
      if (!(a(j, j) == T(0))) b(i, j) /= a(j, j);
    }
  }
}

}  // namespace

template <class T>
int getrf_nopiv(BadPivot policy, detail::RealOf<typename detail::NotDeduced<T>::type> limit, detail::TileView<T> a) {
  return factor<T>(policy, std::max(std::numeric_limits<detail::RealOf<T>>::min(), limit),
                   a);  // also if the limit is NaN
}

template <class T>
void trsm_ru_skip(detail::ConstTileView<T> a, detail::TileView<T> b) {
  if (divides_everywhere<T>(a)) {
    trsm<T>(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), a, b);
  } else {
    solve_skipping<T>(a, b);
  }
}

template <class T>
void swap_rows(detail::TileView<T> a, std::span<RowSwaps<typename detail::NotDeduced<T>::type> const> swaps) {
  for (auto const& [pairs, b] : swaps) {
    if (a.cols == b.cols && a.layout == b.layout) continue;
    throw InvalidArgument("swap_rows: rows of " + std::to_string(a.cols) + " and " + std::to_string(b.cols) +
                          " columns cannot be exchanged");
  }
  if (a.layout == detail::TileLayout::RowMajor) {
    for (auto const& [pairs, b] : swaps) {
      for (auto const& [i, j] : pairs) std::swap_ranges(&a(i, 0), &a(i, 0) + a.cols, &b(j, 0));
    }
    return;
  }
  for (int col = 0; col < a.cols; ++col) {
    int const later = std::min(col + columns_prefetched, a.cols - 1);
    T* const first = &a(0, col);
    for (auto const& [pairs, b] : swaps) {
      T* const second = &b(0, col);
      T const* const next = &b(0, later);
      for (auto const& [i, j] : pairs) {
        __builtin_prefetch(next + j, 1);
        std::swap(first[i], second[j]);
      }
    }
  }
}

#define GRANARY_INSTANTIATE(T)                                                \
  template int getrf_nopiv(BadPivot, detail::RealOf<T>, detail::TileView<T>); \
  template void trsm_ru_skip(detail::TileView<T const>, detail::TileView<T>); \
  template void swap_rows(detail::TileView<T>, std::span<RowSwaps<T> const>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
