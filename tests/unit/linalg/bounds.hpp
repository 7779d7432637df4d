// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include "unit/linalg/rectangle.hpp"

/// Bounds of rounding errors with any BLAS, for tests whose arithmetic is not exact (see exact.hpp): from Higham,
/// Accuracy and Stability of Numerical Algorithms (2002), with the computed factors.
namespace granary::testing {

/// γ_n = n u / (1 - n u) for a sum of n products and a division, in any order: a complex operation has up to four real
/// roundings, a complex division up to ten.
template <class T>
[[nodiscard]] double gamma_of(std::uint64_t n) {
  double const roundings = (detail::is_complex<T> ? 4.0 : 1.0) * static_cast<double>(n) + 10;
  double const product = roundings * static_cast<double>(std::numeric_limits<detail::RealOf<T>>::epsilon()) / 2;
  return product / (1 - product);
}

/// The largest ‖b - A x‖∞ / (‖A‖∞ ‖x‖∞) of the columns.
template <class T>
[[nodiscard]] double backward_error(Rectangle<T> const& a, Rectangle<T> const& x, Rectangle<T> const& b) {
  double norm = 0, worst = 0;
  for (std::uint64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::uint64_t j = 0; j < a.cols; ++j) sum += static_cast<double>(detail::modulus(a(i, j)));
    norm = std::max(norm, sum);
  }
  auto const product = multiply(a, x);
  for (std::uint64_t j = 0; j < x.cols; ++j) {
    double rest = 0, size = 0;
    for (std::uint64_t i = 0; i < x.rows; ++i) {
      rest = std::max(rest, static_cast<double>(detail::modulus(T(b(i, j) - product(i, j)))));
      size = std::max(size, static_cast<double>(detail::modulus(x(i, j))));
    }
    worst = std::max(worst, rest / (norm * size));
  }
  return worst;
}

/// The proven bound of backward_error after refinement (linalg/runtime/mixed.hpp) of a system of order n: the computed
/// residual is at most √n u ‖A‖∞ ‖x‖∞; it and the test's are each rounded by at most γ_(n+1) (‖A‖∞ ‖x‖∞ + ‖b‖∞).
template <class T>
[[nodiscard]] double refined_bound(std::uint64_t n) {
  return std::sqrt(static_cast<double>(n)) * static_cast<double>(std::numeric_limits<detail::RealOf<T>>::epsilon()) /
             2 +
         5 * gamma_of<T>(n + 1);
}

/// ‖|L| |U|‖₁ for L of m x k and U of k x n.
template <class T>
[[nodiscard]] double one_norm_of_moduli(Rectangle<T> const& lower, Rectangle<T> const& upper) {
  std::vector<double> sums(lower.cols);
  for (std::uint64_t k = 0; k < lower.cols; ++k) {
    for (std::uint64_t i = 0; i < lower.rows; ++i) sums[k] += static_cast<double>(detail::modulus(lower(i, k)));
  }
  double largest = 0;
  for (std::uint64_t j = 0; j < upper.cols; ++j) {
    double sum = 0;
    for (std::uint64_t k = 0; k < upper.rows; ++k) sum += sums[k] * static_cast<double>(detail::modulus(upper(k, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// The proven bound of xGET01's ratio for factors of a matrix with the given one norm: ‖P A - L U‖₁ <= γ ‖|L| |U|‖₁
/// (theorem 9.3), in units of n u ‖A‖₁; twice, since pivots that are raised to their rounding errors may add as much
/// (kernels::getrf_bounded). Likewise for Cholesky factors (theorem 10.3).
template <class T>
[[nodiscard]] double ratio_bound(Rectangle<T> const& lower, Rectangle<T> const& upper, double norm) {
  double const unit =
      static_cast<double>(upper.cols) * static_cast<double>(std::numeric_limits<detail::RealOf<T>>::epsilon()) / 2;
  return 2 * gamma_of<T>(lower.cols + 32) * one_norm_of_moduli(lower, upper) / (unit * norm);
}

/// The proven bound of max |P A - L U| (theorem 9.3): γ max (|L| |U|), twice as in ratio_bound. `factors` are L,
/// without its unit diagonal, and U.
template <class T>
[[nodiscard]] double lu_bound(Rectangle<T> const& factors) {
  auto const inner = std::min(factors.rows, factors.cols);
  double largest = 0;
  for (std::uint64_t i = 0; i < factors.rows; ++i) {
    for (std::uint64_t j = 0; j < factors.cols; ++j) {
      double sum = 0;
      for (std::uint64_t k = 0; k <= std::min({i, j, inner - 1}); ++k)
        sum += (k == i ? 1 : static_cast<double>(detail::modulus(factors(i, k)))) *
               static_cast<double>(detail::modulus(factors(k, j)));
      largest = std::max(largest, sum);
    }
  }
  // Twice again: the product and the difference of a test are rounded too.
  return 4 * gamma_of<T>(inner + 32) * largest;
}

}  // namespace granary::testing
