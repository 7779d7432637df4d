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
  double const roundings = (is_complex<T> ? 4.0 : 1.0) * static_cast<double>(n) + 10;
  double const product = roundings * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) / 2;
  return product / (1 - product);
}

/// kernels::trsm inverts diagonal blocks of order up to 32. A computed inverse Y of T has |Y T - I| <= γ P², P = |T^-1|
/// |T|, at worst (section 14.2), and |T Y - I| <= γ Q², Q = |T| |T^-1|: a solve's residual is that of substitution
/// times 1 + p + p², p being the largest row or column sum of P and Q within 32 of the diagonal, whatever blocks it
/// takes. T is upper triangular of order n with the entries t(i, j). Returns that factor.
template <class Entry>
[[nodiscard]] double inversion_loss(std::uint64_t n, Entry const& t) {
  constexpr std::uint64_t band = 32;
  using Value = std::decay_t<decltype(t(0, 0))>;
  using W = Wide<Value>;
  auto const first = [&](std::uint64_t j) { return j >= band ? j - band + 1 : 0; };
  Rectangle<W> y(n, n);
  for (std::uint64_t j = 0; j < n; ++j) {
    y(j, j) = t(j, j) == Value(0) ? W(0) : W(1) / W(t(j, j));  // a block with a zero pivot is not inverted
    for (auto i = j; i-- > first(j);) {
      W sum{};
      for (auto k = i + 1; k <= j; ++k) sum += W(t(i, k)) * y(k, j);
      y(i, j) = -y(i, i) * sum;
    }
  }
  std::vector<double> sums[4] = {std::vector<double>(n), std::vector<double>(n), std::vector<double>(n),
                                 std::vector<double>(n)};
  for (std::uint64_t j = 0; j < n; ++j) {
    for (auto i = first(j); i <= j; ++i) {
      double p = 0, q = 0;
      for (auto k = i; k <= j; ++k) {
        p += modulus(y(i, k)) * modulus(W(t(k, j)));
        q += modulus(W(t(i, k))) * modulus(y(k, j));
      }
      sums[0][i] += p, sums[1][j] += p, sums[2][i] += q, sums[3][j] += q;
    }
  }
  double largest = 0;
  for (auto const& of : sums) {
    for (double const sum : of)
      largest = std::isnan(sum) ? std::numeric_limits<double>::infinity() : std::max(largest, sum);
  }
  return 1 + largest + largest * largest;
}

/// The largest ‖b - A x‖∞ / (‖A‖∞ ‖x‖∞) of the columns.
template <class T>
[[nodiscard]] double backward_error(Rectangle<T> const& a, Rectangle<T> const& x, Rectangle<T> const& b) {
  double norm = 0, worst = 0;
  for (std::uint64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::uint64_t j = 0; j < a.cols; ++j) sum += static_cast<double>(modulus(a(i, j)));
    norm = std::max(norm, sum);
  }
  auto const product = multiply(a, x);
  for (std::uint64_t j = 0; j < x.cols; ++j) {
    double rest = 0, size = 0;
    for (std::uint64_t i = 0; i < x.rows; ++i) {
      rest = std::max(rest, static_cast<double>(modulus(T(b(i, j) - product(i, j)))));
      size = std::max(size, static_cast<double>(modulus(x(i, j))));
    }
    worst = std::max(worst, rest / (norm * size));
  }
  return worst;
}

/// The proven bound of backward_error after refinement (linalg/runtime/mixed.hpp) of a system of order n: the computed
/// residual is at most √n u ‖A‖∞ ‖x‖∞; it and the test's are each rounded by at most γ_(n+1) (‖A‖∞ ‖x‖∞ + ‖b‖∞).
template <class T>
[[nodiscard]] double refined_bound(std::uint64_t n) {
  return std::sqrt(static_cast<double>(n)) * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) / 2 +
         5 * gamma_of<T>(n + 1);
}

/// ‖|L| |U|‖₁ for L of m x k and U of k x n.
template <class T>
[[nodiscard]] double one_norm_of_moduli(Rectangle<T> const& lower, Rectangle<T> const& upper) {
  std::vector<double> sums(lower.cols);
  for (std::uint64_t k = 0; k < lower.cols; ++k) {
    for (std::uint64_t i = 0; i < lower.rows; ++i) sums[k] += static_cast<double>(modulus(lower(i, k)));
  }
  double largest = 0;
  for (std::uint64_t j = 0; j < upper.cols; ++j) {
    double sum = 0;
    for (std::uint64_t k = 0; k < upper.rows; ++k) sum += sums[k] * static_cast<double>(modulus(upper(k, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// The proven bound of xGET01's ratio for factors of a matrix with the given one norm: ‖P A - L U‖₁ <= γ ‖|L| |U|‖₁
/// (theorem 9.3), times the loss by inverted blocks, in units of n u ‖A‖₁. Likewise for Cholesky factors (theorem
/// 10.3).
template <class T>
[[nodiscard]] double ratio_bound(Rectangle<T> const& lower, Rectangle<T> const& upper, double norm) {
  auto const inner = lower.cols;
  double const loss = inversion_loss(inner, [&](auto i, auto j) { return i <= j ? lower(j, i) : T(0); }) +
                      inversion_loss(inner, [&](auto i, auto j) { return i <= j ? upper(i, j) : T(0); });
  double const unit =
      static_cast<double>(upper.cols) * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) / 2;
  return gamma_of<T>(inner + 32) * loss * one_norm_of_moduli(lower, upper) / (unit * norm);
}

/// The proven bound of max |P A - L U| (theorem 9.3): γ max (|L| |U|), times the loss by inverted blocks. `factors` are
/// L, without its unit diagonal, and U.
template <class T>
[[nodiscard]] double lu_bound(Rectangle<T> const& factors) {
  auto const inner = std::min(factors.rows, factors.cols);
  double largest = 0;
  for (std::uint64_t i = 0; i < factors.rows; ++i) {
    for (std::uint64_t j = 0; j < factors.cols; ++j) {
      double sum = 0;
      for (std::uint64_t k = 0; k <= std::min({i, j, inner - 1}); ++k)
        sum += (k == i ? 1 : static_cast<double>(modulus(factors(i, k)))) * static_cast<double>(modulus(factors(k, j)));
      largest = std::max(largest, sum);
    }
  }
  double const lower = inversion_loss(inner, [&](std::uint64_t i, std::uint64_t j) {
    return i == j ? T(1) : i < j ? factors(j, i) : T(0);
  });
  double const upper =
      inversion_loss(inner, [&](std::uint64_t i, std::uint64_t j) { return i <= j ? factors(i, j) : T(0); });
  // Twice: the product and the difference of a test are rounded too.
  return 2 * gamma_of<T>(inner + 32) * (lower + upper) * largest;
}

}  // namespace granary::testing
