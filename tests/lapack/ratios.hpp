// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/data/scalar.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "unit/linalg/rectangle.hpp"

/// The test ratios of LAPACK's own tests, on dense matrices and in long double: the reference for linalg/residual,
/// without shared code. LAPACK accepts a ratio below 30.
namespace granary::testing {

inline constexpr double lapack_threshold = 30;

/// long double, real or complex as T is.
template <class T>
using Long = std::conditional_t<detail::is_complex<T>, Kokkos::complex<long double>, long double>;

/// LAPACK's 'Epsilon'.
template <class T>
inline constexpr long double lapack_epsilon = std::numeric_limits<detail::RealOf<T>>::epsilon() / 2;

template <class T>
[[nodiscard]] Long<T> lengthen(T const& x) {
  if constexpr (detail::is_complex<T>) {
    return {x.real(), x.imag()};
  } else {
    return x;
  }
}
template <class T>
[[nodiscard]] T shorten(Long<T> const& x) {
  using R = detail::RealOf<T>;
  if constexpr (detail::is_complex<T>) {
    return {static_cast<R>(x.real()), static_cast<R>(x.imag())};
  } else {
    return static_cast<R>(x);
  }
}

/// max_j Σ_i |a_ij| of the m x n matrix whose elements are element(i, j); NaN if one is.
template <class Element>
[[nodiscard]] long double long_one_norm(std::uint64_t m, std::uint64_t n, Element&& element) {
  long double largest = 0;
  for (std::uint64_t j = 0; j < n; ++j) {
    long double sum = 0;
    for (std::uint64_t i = 0; i < m; ++i) sum += detail::modulus(element(i, j));
    if (!(sum <= largest)) largest = sum;
    if (sum != sum) return sum;
  }
  return largest;
}

/// rest / norm / n / ε; 1 / ε if only the norm is 0.
template <class T>
[[nodiscard]] double test_ratio(long double rest, long double norm, std::uint64_t n) {
  if (rest == 0) return 0;
  if (norm == 0) return static_cast<double>(1 / lapack_epsilon<T>);
  return static_cast<double>(rest / norm / static_cast<long double>(n) / lapack_epsilon<T>);
}

/// xPOT01: ‖A - L L^H‖₁ / (n ‖A‖₁ ε) (lower), or of A - U^H U; of A and of the factor that triangle counts.
template <class T>
[[nodiscard]] double cholesky_ratio(Uplo uplo, Rectangle<T> const& a, Rectangle<T> const& factor) {
  auto const n = a.rows;
  // Column i of L^H, or of U.
  auto const column = [&](std::uint64_t k, std::uint64_t i) {
    return uplo == Uplo::Lower ? detail::conjugate(lengthen<T>(factor(i, k))) : lengthen<T>(factor(k, i));
  };
  auto const hermitian = hermitian_of(uplo, a);
  auto const value = [&](std::uint64_t i, std::uint64_t j) { return lengthen<T>(hermitian(i, j)); };
  auto const rest = long_one_norm(n, n, [&](std::uint64_t i, std::uint64_t j) {
    auto difference = value(i, j);
    for (std::uint64_t k = 0; k <= std::min(i, j); ++k) difference -= detail::conjugate(column(k, i)) * column(k, j);
    return difference;
  });
  return test_ratio<T>(rest, long_one_norm(n, n, value), n);
}

/// xPOT03: ‖I - A X‖₁ / (n ‖A‖₁ ‖X‖₁ ε) for the inverse X stored in that triangle. All of A counts.
template <class T>
[[nodiscard]] double inverse_ratio(Uplo uplo, Rectangle<T> const& a, Rectangle<T> const& inverse) {
  auto const n = a.rows;
  auto const x = hermitian_of(uplo, inverse);
  auto const one_norm = [&](Rectangle<T> const& matrix) {
    return long_one_norm(n, n, [&](std::uint64_t i, std::uint64_t j) { return lengthen<T>(matrix(i, j)); });
  };
  auto const rest = long_one_norm(n, n, [&](std::uint64_t i, std::uint64_t j) {
    Long<T> difference(i == j ? 1 : 0);
    for (std::uint64_t k = 0; k < n; ++k) difference -= lengthen<T>(a(i, k)) * lengthen<T>(x(k, j));
    return difference;
  });
  return test_ratio<T>(rest, one_norm(a) * one_norm(x), n);
}

/// xGET06: how far an estimate of a reciprocal condition number is from the true one.
template <class R>
[[nodiscard]] double condition_ratio(R estimate, long double truth) {
  auto const found = static_cast<long double>(estimate),
             eps = static_cast<long double>(std::numeric_limits<R>::epsilon()) / 2;
  if (found > 0 && truth > 0) {
    return static_cast<double>(std::max(found, truth) / std::min(found, truth) - (1 - std::min(found, truth)));
  }
  return static_cast<double>(std::max(found, truth) / eps);
}

/// xGET01: ‖P A - L U‖₁ / (n ‖A‖₁ ε), m x n, with P made of exchanges of row k with row exchanges[k], k = 0, 1, ...;
/// none where the list is empty.
template <class T>
[[nodiscard]] double lu_ratio(Rectangle<T> const& a, Rectangle<T> const& lu,
                              std::vector<std::uint64_t> const& exchanges = {}) {
  std::vector<std::uint64_t> source(a.rows);
  for (std::uint64_t i = 0; i < a.rows; ++i) source[i] = i;
  for (std::uint64_t k = 0; k < exchanges.size(); ++k) std::swap(source[k], source.at(exchanges[k]));
  auto const rest = long_one_norm(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    auto difference = lengthen<T>(a(source[i], j));
    for (std::uint64_t k = 0; k <= std::min(i, j); ++k) {
      difference -= k == i ? lengthen<T>(lu(k, j)) : lengthen<T>(lu(i, k)) * lengthen<T>(lu(k, j));
    }
    return difference;
  });
  auto const norm =
      long_one_norm(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return lengthen<T>(a(i, j)); });
  return test_ratio<T>(rest, norm, a.cols);
}

/// xGET02, xPOT02: the largest ‖b - op(A) x‖₁ / (‖op(A)‖₁ ‖x‖₁ ε) of the columns of B and X. All of A counts.
template <class T>
[[nodiscard]] double solve_ratio(Op op, Rectangle<T> const& a, Rectangle<T> const& x, Rectangle<T> const& b) {
  auto const op_a = op_of(op, a);
  auto const norm =
      long_one_norm(op_a.rows, op_a.cols, [&](std::uint64_t i, std::uint64_t j) { return lengthen<T>(op_a(i, j)); });
  double largest = 0;
  for (std::uint64_t j = 0; j < b.cols; ++j) {
    auto const rest = long_one_norm(b.rows, 1, [&](std::uint64_t i, std::uint64_t) {
      auto difference = lengthen<T>(b(i, j));
      for (std::uint64_t k = 0; k < op_a.cols; ++k) difference -= lengthen<T>(op_a(i, k)) * lengthen<T>(x(k, j));
      return difference;
    });
    auto const solution =
        long_one_norm(x.rows, 1, [&](std::uint64_t k, std::uint64_t) { return lengthen<T>(x(k, j)); });
    double const ratio = test_ratio<T>(rest, norm * solution, 1);
    if (!(ratio <= largest)) largest = ratio;
  }
  return largest;
}

}  // namespace granary::testing
