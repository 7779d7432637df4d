// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>

#include <optional>

#include "lapack/ratios.hpp"

/// The matrix types of LAPACK's own tests, generated and numbered like those of xLATB4 and xLATMS, but from other
/// random numbers and in long double.
namespace granary::testing {

/// A matrix, and the INFO that LAPACK's tests expect from its factorization: 0, or the pivot that fails, counted from
/// 1.
template <class T>
struct TestMatrix {
  Rectangle<T> elements;
  std::uint64_t info = 0;
};

namespace helpers {

template <class T>
std::vector<Long<T>> random_vector(detail::Random& random, std::uint64_t n) {
  std::vector<Long<T>> v(n);
  for (auto& x : v) x = lengthen<T>(random_scalar<T>(random));
  return v;
}

/// A := (I - 2 v v^H / v^H v) A on the rows from `first` on.
template <class L>
void reflect_rows(Rectangle<L>& a, std::uint64_t first, std::vector<L> const& v) {
  long double square = 0;
  for (auto const& x : v) square += detail::real_part(L(detail::conjugate(x) * x));
  if (square == 0) return;
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    L sum{};
    for (std::uint64_t i = 0; i < v.size(); ++i) sum += detail::conjugate(v[i]) * a(first + i, j);
    for (std::uint64_t i = 0; i < v.size(); ++i) a(first + i, j) -= v[i] * sum * L(2 / square);
  }
}

/// The upper trapezoid of A = Q R, which has A's singular values.
template <class L>
Rectangle<L> upper_factor(Rectangle<L> a) {
  for (std::uint64_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    std::vector<L> v;
    long double square = 0;
    for (auto i = k; i < a.rows; ++i) {
      v.push_back(a(i, k));
      square += detail::real_part(L(detail::conjugate(a(i, k)) * a(i, k)));
    }
    auto const head = detail::modulus(v[0]);
    v[0] += head == 0 ? L(std::sqrt(square)) : v[0] * L(std::sqrt(square) / head);
    reflect_rows(a, k, v);
    for (auto i = k + 1; i < a.rows; ++i) a(i, k) = L(0);
  }
  return a;
}

/// d_i of mode 3 of xLATMS: a geometric sequence from `norm` to norm / condition.
inline long double geometric(std::uint64_t i, std::uint64_t n, long double condition, long double norm) {
  if (n < 2) return norm;
  return norm * std::pow(condition, -static_cast<long double>(i) / static_cast<long double>(n - 1));
}

template <class T>
struct Extremes {
  static constexpr long double epsilon = std::numeric_limits<detail::RealOf<T>>::epsilon();
  static constexpr long double badc2 = 0.1L / epsilon;
  static constexpr long double small = 0.25L * (std::numeric_limits<detail::RealOf<T>>::min() / epsilon);
  static constexpr long double large = 1 / small;
};

template <class T>
Rectangle<T> shorten_all(Rectangle<Long<T>> const& a) {
  Rectangle<T> shortened(a.rows, a.cols);
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    for (std::uint64_t i = 0; i < a.rows; ++i) shortened(i, j) = shorten<T>(a(i, j));
  }
  return shortened;
}

template <class T>
Rectangle<Long<T>> diagonal_matrix(std::uint64_t m, std::uint64_t n, long double condition, long double norm) {
  Rectangle<Long<T>> a(m, n);
  auto const count = std::min(m, n);
  for (std::uint64_t i = 0; i < count; ++i) a(i, i) = Long<T>(geometric(i, count, condition, norm));
  return a;
}

}  // namespace helpers

/// A random Hermitian matrix with geometrically spaced eigenvalues between norm / condition and norm.
template <class T>
[[nodiscard]] Rectangle<T> random_with_eigenvalues(std::uint64_t n, long double condition, long double norm,
                                                   std::uint64_t seed) {
  detail::Random random(seed);
  auto a = helpers::diagonal_matrix<T>(n, n, condition, norm);
  for (auto first = n; first-- > 0;) {
    auto const v = helpers::random_vector<T>(random, n - first);
    helpers::reflect_rows(a, first, v);
    a = op_of(Op::ConjTrans, a);
    helpers::reflect_rows(a, first, v);
  }
  return hermitian_of(Uplo::Lower, helpers::shorten_all<T>(a));
}

/// A random m x n matrix with geometrically spaced singular values between norm / condition and norm.
template <class T>
[[nodiscard]] Rectangle<Long<T>> random_with_singular_values(std::uint64_t m, std::uint64_t n, long double condition,
                                                             long double norm, std::uint64_t seed) {
  detail::Random random(seed);
  auto a = helpers::diagonal_matrix<T>(m, n, condition, norm);
  for (auto first = m; first-- > 0;) helpers::reflect_rows(a, first, helpers::random_vector<T>(random, m - first));
  a = op_of(Op::ConjTrans, a);
  for (auto first = n; first-- > 0;) helpers::reflect_rows(a, first, helpers::random_vector<T>(random, n - first));
  return op_of(Op::ConjTrans, a);
}

/// The types of xCHKPO: 1 diagonal; 2 condition 2; 3, 4, 5 first, last, middle row and column zero; 6 condition
/// sqrt(0.1/eps); 7 condition 0.1/eps; 8, 9 scaled near underflow, overflow. Hermitian, all elements stored. Nothing
/// for the orders that LAPACK leaves out of a type.
template <class T>
[[nodiscard]] std::optional<TestMatrix<T>> positive_definite_type(int type, std::uint64_t n, std::uint64_t seed) {
  using Extremes = helpers::Extremes<T>;
  bool const zeroed = type >= 3 && type <= 5;
  if (zeroed && n + 2 < static_cast<std::uint64_t>(type)) return std::nullopt;
  auto const condition = type == 6 ? std::sqrt(Extremes::badc2) : type == 7 ? Extremes::badc2 : 2;
  auto const norm = type == 8 ? Extremes::small : type == 9 ? Extremes::large : 1;
  if (type == 1) return TestMatrix<T>{helpers::shorten_all<T>(helpers::diagonal_matrix<T>(n, n, condition, norm))};
  TestMatrix<T> matrix{random_with_eigenvalues<T>(n, condition, norm, seed)};
  if (!zeroed) return matrix;
  auto const zero = type == 3 ? 0 : type == 4 ? n - 1 : n / 2;
  for (std::uint64_t k = 0; k < n; ++k) matrix.elements(zero, k) = matrix.elements(k, zero) = T(0);
  matrix.info = zero + 1;
  return matrix;
}

/// The types of xCHKGE: 1 diagonal; 2, 3 upper, lower triangular; 4 condition 2; 5, 6, 7 first column, last column, the
/// columns from the middle on zero; 8 condition sqrt(0.1/eps); 9 condition 0.1/eps; 10, 11 scaled near underflow,
/// overflow. Nothing for the orders that LAPACK leaves out of a type.
template <class T>
[[nodiscard]] std::optional<TestMatrix<T>> general_type(int type, std::uint64_t m, std::uint64_t n,
                                                        std::uint64_t seed) {
  using Extremes = helpers::Extremes<T>;
  bool const zeroed = type >= 5 && type <= 7;
  if (zeroed && n + 4 < static_cast<std::uint64_t>(type)) return std::nullopt;
  auto const condition = type == 8 ? std::sqrt(Extremes::badc2) : type == 9 ? Extremes::badc2 : 2;
  auto const norm = type == 10 ? Extremes::small : type == 11 ? Extremes::large : 1;
  if (type == 1) return TestMatrix<T>{helpers::shorten_all<T>(helpers::diagonal_matrix<T>(m, n, condition, norm))};
  auto a = random_with_singular_values<T>(m, n, condition, norm, seed);
  if (type == 2) a = helpers::upper_factor(a);
  if (type == 3) a = op_of(Op::ConjTrans, helpers::upper_factor(op_of(Op::ConjTrans, a)));
  TestMatrix<T> matrix{helpers::shorten_all<T>(a)};
  if (!zeroed) return matrix;
  auto const smaller = std::min(m, n);
  auto const zero = type == 5 ? 0 : type == 6 ? smaller - 1 : smaller / 2;
  auto const last = type == 7 ? n : zero + 1;
  for (auto j = zero; j < last; ++j) {
    for (std::uint64_t i = 0; i < m; ++i) matrix.elements(i, j) = T(0);
  }
  matrix.info = zero + 1;
  return matrix;
}

}  // namespace granary::testing
