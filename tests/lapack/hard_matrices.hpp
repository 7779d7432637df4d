// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "lapack/matrix_types.hpp"

/// Matrices on which factorizations lose accuracy, in the four scalars. Complex ones are real ones with each row and
/// column multiplied by a random phase, which changes no modulus.
namespace granary::testing {

template <class T>
struct HardMatrix {
  std::string name;
  Rectangle<T> elements;
};

namespace helpers {

/// exp(i φ), 1 where T is real.
template <class T>
std::vector<Long<T>> phases(detail::Random& random, std::uint64_t n) {
  std::vector<Long<T>> turns(n, Long<T>(1));
  if constexpr (detail::is_complex<T>) {
    for (auto& turn : turns) {
      auto const angle = 2 * std::numbers::pi_v<long double> * random.uniform();
      turn = Long<T>(std::cos(angle), std::sin(angle));
    }
  }
  return turns;
}

template <class T, class Element>
Rectangle<T> turned(std::uint64_t n, bool hermitian, Element&& element) {
  detail::Random random(n);
  auto const rows = phases<T>(random, n);
  auto const cols = hermitian ? rows : phases<T>(random, n);
  Rectangle<T> a(n, n);
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < n; ++i) {
      a(i, j) = shorten<T>(rows[i] * Long<T>(static_cast<long double>(element(i, j))) * detail::conjugate(cols[j]));
    }
  }
  return hermitian ? hermitian_of(Uplo::Lower, a) : a;
}

/// Powers of two with exponents uniform in [-range, range].
template <class T>
std::vector<long double> random_scales(std::uint64_t n, std::uint64_t seed) {
  int const range = std::is_same_v<detail::RealOf<T>, float> ? 12 : 100;
  detail::Random random(seed);
  std::vector<long double> scales(n);
  for (auto& scale : scales) scale = std::ldexp(1.0L, static_cast<int>(random.between(-range, range)));
  return scales;
}

/// Kahan's triangular matrix with sine s: diag(1, s, s², ...) (I - c N), N strictly upper, of ones.
inline long double kahan(std::uint64_t i, std::uint64_t j, long double s) {
  if (i > j) return 0;
  return std::pow(s, static_cast<long double>(i)) * (i == j ? 1 : -std::sqrt(1 - s * s));
}

/// Wilkinson's matrix, on which partial pivoting attains the largest growth, (1 + h)^(n-1); h is 1 in the original, and
/// here chosen for a growth of 2^20.
inline long double wilkinson(std::uint64_t i, std::uint64_t j, std::uint64_t n) {
  if (i == j || j + 1 == n) return 1;
  return i > j ? 1 - std::pow(2.0L, 20 / static_cast<long double>(n - 1)) : 0;
}

/// Foster's matrix, from the quadrature of a Volterra equation (SIAM J. Matrix Anal. Appl. 15, 1994) with c = 1 and
/// kh = 0.1: growth about (1 + kh)^n.
inline long double foster(std::uint64_t i, std::uint64_t j, std::uint64_t n) {
  long double const kh = 0.1L;
  if (j + 1 == n) return i + 1 == n ? -kh / 2 : -1;
  if (i == 0) return j == 0 ? 1 : 0;
  if (j == 0) return -kh / 2;
  if (i == j) return 1 - kh / 2;
  return i > j ? -kh : 0;
}

}  // namespace helpers

/// For LU factorizations; n is even.
template <class T>
[[nodiscard]] std::vector<HardMatrix<T>> hard_general_matrices(std::uint64_t n) {
  using helpers::turned;
  auto const random = random_rectangle<double>(n, n, 11);
  auto const half = multiply(random_rectangle<double>(n, n / 2, 12), random_rectangle<double>(n / 2, n, 13));
  auto const rows = helpers::random_scales<T>(n, 14);
  auto const cols = helpers::random_scales<T>(n, 15);
  auto const real = [](std::uint64_t i) { return static_cast<long double>(i); };
  auto const bad = static_cast<detail::RealOf<T>>(helpers::Extremes<T>::badc2);
  using Index = std::uint64_t;
  return {
      {"random", turned<T>(n, false, random)},
      {"random, condition 0.1/eps", helpers::shorten_all<T>(random_with_singular_values<T>(n, n, bad, 1, 16))},
      {"orthogonal (sines)", turned<T>(n, false,
                                       [&](Index i, Index j) {
                                         auto const angle = std::numbers::pi_v<long double> / real(n + 1);
                                         return std::sqrt(2 / real(n + 1)) * std::sin(real((i + 1) * (j + 1)) * angle);
                                       })},
      {"Wilkinson's growth", turned<T>(n, false, [&](Index i, Index j) { return helpers::wilkinson(i, j, n); })},
      {"Foster", turned<T>(n, false, [&](Index i, Index j) { return helpers::foster(i, j, n); })},
      {"Kahan", turned<T>(n, false, [](Index i, Index j) { return helpers::kahan(i, j, 0.95L); })},
      {"Kahan, transposed", turned<T>(n, false, [](Index i, Index j) { return helpers::kahan(j, i, 0.95L); })},
      {"Hilbert", turned<T>(n, false, [&](Index i, Index j) { return 1 / real(i + j + 1); })},
      {"rows scaled badly", turned<T>(n, false, [&](Index i, Index j) { return rows[i] * random(i, j); })},
      {"columns scaled badly", turned<T>(n, false, [&](Index i, Index j) { return random(i, j) * cols[j]; })},
      {"both scaled badly", turned<T>(n, false, [&](Index i, Index j) { return rows[i] * random(i, j) * cols[j]; })},
      {"rank n/2", turned<T>(n, false, half)},
      {"rank 1", turned<T>(n, false, [&](Index i, Index j) { return random(i, 0) * random(0, j); })},
      {"two equal rows", turned<T>(n, false, [&](Index i, Index j) { return random(i + 1 == n ? 0 : i, j); })},
  };
}

/// For Cholesky factorizations: Hermitian positive definite, also as rounded to T.
template <class T>
[[nodiscard]] std::vector<HardMatrix<T>> hard_positive_definite_matrices(std::uint64_t n) {
  using helpers::turned;
  auto const scales = helpers::random_scales<T>(n, 14);
  auto const definite = random_positive_definite<double>(n, 12);
  auto const real = [](std::uint64_t i) { return static_cast<long double>(i); };
  auto const bad = helpers::Extremes<T>::badc2;
  using Index = std::uint64_t;
  return {
      {"random", random_positive_definite<T>(n, 11)},
      {"condition sqrt(0.1/eps)", random_with_eigenvalues<T>(n, std::sqrt(bad), 1, 16)},
      {"condition 0.01/eps", random_with_eigenvalues<T>(n, bad / 10, 1, 16)},
      {"min(i, j)", turned<T>(n, true, [&](Index i, Index j) { return real(std::min(i, j) + 1); })},
      {"exponential covariance",
       turned<T>(n, true, [&](Index i, Index j) { return std::exp(-std::abs(real(i) - real(j)) / real(n)); })},
      {"second difference",
       turned<T>(n, true, [](Index i, Index j) { return i == j                     ? 2.0L
                                                        : i == j + 1 || j == i + 1 ? -1.0L
                                                                                   : 0.0L; })},
      {"scaled badly", turned<T>(n, true, [&](Index i, Index j) { return scales[i] * definite(i, j) * scales[j]; })},
      {"graded", turned<T>(n, true, [&](Index i, Index j) { return definite(i, j) * std::pow(0.9L, real(i + j)); })},
  };
}

}  // namespace granary::testing
