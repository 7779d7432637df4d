// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lapack/ratios.hpp"

/// Backward errors in more than the precision of the matrices.
namespace granary::sweep {

using testing::Rectangle;

/// Double precision for single, 80 bits for double: products are exact or nearly so.
template <class T>
using Exact = std::conditional_t<std::is_same_v<detail::RealOf<T>, float>, testing::Wide<T>, testing::Long<T>>;

template <class T>
[[nodiscard]] Exact<T> exact(T const& x) {
  using E = Exact<T>;
  if constexpr (detail::is_complex<T>) {
    return E(x.real(), x.imag());
  } else {
    return x;
  }
}

/// In units of the rounding error of one operation, u: ‖R‖∞ divided by the norm of the target, and max |R_ij| / W_ij.
/// Infinite if one is NaN.
struct Errors {
  double norm = 0;
  double component = 0;

  void include(Errors const& other) {
    norm = std::max(norm, other.norm);
    component = std::max(component, other.component);
  }
  [[nodiscard]] bool finite() const { return std::isfinite(norm) && std::isfinite(component); }
};

template <class T>
[[nodiscard]] Rectangle<double> moduli(Rectangle<T> const& a) {
  return testing::rectangle_of<double>(
      a.rows, a.cols, [&](auto i, auto j) { return static_cast<double>(detail::modulus(exact(a(i, j)))); });
}

/// |A| |B|.
[[nodiscard]] inline Rectangle<double> product_of_moduli(Rectangle<double> const& a, Rectangle<double> const& b) {
  Rectangle<double> c(a.rows, b.cols);
  for (std::uint64_t j = 0; j < b.cols; ++j) {
    for (std::uint64_t k = 0; k < a.cols; ++k) {
      double const factor = b(k, j);
      if (factor == 0) continue;
      for (std::uint64_t i = 0; i < a.rows; ++i) c(i, j) += a(i, k) * factor;
    }
  }
  return c;
}

/// The rows to check: all of up to 300, otherwise 40 of them.
[[nodiscard]] inline std::vector<std::uint64_t> checked_rows(std::uint64_t n) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t i = 0; i < n; i += n <= 300 ? 1 : n / 40) rows.push_back(i);
  return rows;
}
template <class T>
[[nodiscard]] Rectangle<T> rows_of(Rectangle<T> const& a, std::vector<std::uint64_t> const& rows) {
  return testing::rectangle_of<T>(rows.size(), a.cols, [&](auto i, auto j) { return a(rows[i], j); });
}

/// R = target - left right, in units of u ‖target‖∞ (of a solution: u ‖W‖∞) and of u W.
enum class Of { Factors, Solution };
template <class T>
[[nodiscard]] Errors errors_of(Of what, Rectangle<T> const& target, Rectangle<T> const& left, Rectangle<T> const& right,
                               Rectangle<double> const& sizes) {
  double const infinity = std::numeric_limits<double>::infinity();
  std::vector<std::uint64_t> ends(right.cols);
  for (std::uint64_t j = 0; j < right.cols; ++j) {
    for (std::uint64_t k = 0; k < right.rows; ++k) {
      if (!(right(k, j) == T(0))) ends[j] = k + 1;
    }
  }
  double const u = static_cast<double>(testing::lapack_epsilon<T>);
  // Each product may be below the smallest number.
  double const underflow =
      static_cast<double>(left.cols) * static_cast<double>(std::numeric_limits<detail::RealOf<T>>::denorm_min());
  double rest = 0, norm = 0;
  Errors result;
  std::vector<T> row(left.cols);
  for (std::uint64_t i = 0; i < left.rows; ++i) {
    std::uint64_t end = 0;
    for (std::uint64_t k = 0; k < left.cols; ++k) {
      row[k] = left(i, k);
      if (!(row[k] == T(0))) end = k + 1;
    }
    double sum = 0, row_norm = 0;
    for (std::uint64_t j = 0; j < right.cols; ++j) {
      auto difference = exact(target(i, j));
      row_norm += what == Of::Factors ? static_cast<double>(detail::modulus(difference)) : sizes(i, j);
      T const* const column = &right(0, j);
      auto const last = std::min(end, ends[j]);
      for (std::uint64_t k = 0; k < last; ++k) difference -= exact(row[k]) * exact(column[k]);
      auto const size = static_cast<double>(detail::modulus(difference));
      if (!std::isfinite(size)) return {infinity, infinity};
      sum += size;
      if (size > 0) result.component = std::max(result.component, size / (u * sizes(i, j) + underflow));
    }
    rest = std::max(rest, sum);
    norm = std::max(norm, row_norm);
  }
  result.norm = rest == 0 ? 0 : rest / (u * norm);
  return result;
}

/// The same with W = |left| |right|.
template <class T>
[[nodiscard]] Errors errors_of(Of what, Rectangle<T> const& target, Rectangle<T> const& left,
                               Rectangle<T> const& right) {
  return errors_of(what, target, left, right, product_of_moduli(moduli(left), moduli(right)));
}

}  // namespace granary::sweep
