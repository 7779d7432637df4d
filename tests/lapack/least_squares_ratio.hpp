// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "lapack/ratios.hpp"

namespace granary::testing {

/// B - A X, in long double.
template <class T>
[[nodiscard]] Rectangle<Long<T>> residual_of(Rectangle<T> const& a, Rectangle<T> const& x, Rectangle<T> const& b) {
  return rectangle_of<Long<T>>(b.rows, b.cols, [&](std::uint64_t i, std::uint64_t j) {
    auto sum = lengthen<T>(b(i, j));
    for (std::uint64_t k = 0; k < a.cols; ++k) sum -= lengthen<T>(a(i, k)) * lengthen<T>(x(k, j));
    return sum;
  });
}

template <class T>
[[nodiscard]] long double largest_column_sum(Rectangle<T> const& a) {
  return long_one_norm(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return lengthen<T>(a(i, j)); });
}

/// LAPACK's xQRT17, ‖R^H A‖₁ / (‖A‖₁ ‖B‖₁ max(m, n, k) ε) with R = B - A X: the residual is orthogonal to the columns.
/// LAPACK tests A of a small condition; here ‖B‖₁ + ‖A‖₁ ‖X‖₁ stands for ‖B‖₁, as in the bound for Householder's QR
/// (Higham, Accuracy and Stability, theorem 20.3), since X grows with the condition.
template <class T>
[[nodiscard]] double orthogonality_ratio(Rectangle<T> const& a, Rectangle<T> const& x, Rectangle<T> const& b) {
  auto const r = residual_of(a, x, b);
  auto const product = rectangle_of<Long<T>>(b.cols, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    Long<T> sum{};
    for (std::uint64_t k = 0; k < a.rows; ++k) sum += detail::conjugate(r(k, i)) * lengthen<T>(a(k, j));
    return sum;
  });
  auto const rest = long_one_norm(b.cols, a.cols, [&](std::uint64_t i, std::uint64_t j) { return product(i, j); });
  return test_ratio<T>(rest,
                       largest_column_sum(a) * (largest_column_sum(b) + largest_column_sum(a) * largest_column_sum(x)),
                       std::max({a.rows, a.cols, b.cols}));
}

/// LAPACK's xQRT16: ‖B - A X‖₁ / (max(m, n) ‖A‖₁ ‖X‖₁ ε), the largest of a column; for B in the range of A.
template <class T>
[[nodiscard]] double consistency_ratio(Rectangle<T> const& a, Rectangle<T> const& x, Rectangle<T> const& b) {
  auto const r = residual_of(a, x, b);
  double largest = 0;
  for (std::uint64_t j = 0; j < b.cols; ++j) {
    auto const rest = long_one_norm(b.rows, 1, [&](std::uint64_t i, std::uint64_t) { return r(i, j); });
    auto const size = long_one_norm(x.rows, 1, [&](std::uint64_t i, std::uint64_t) { return lengthen<T>(x(i, j)); });
    largest = std::max(largest, test_ratio<T>(rest, largest_column_sum(a) * size, std::max(a.rows, a.cols)));
  }
  return largest;
}

}  // namespace granary::testing
