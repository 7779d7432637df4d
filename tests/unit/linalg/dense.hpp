// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace granary::testing {

/// A column-major matrix of order n with leading dimension ld.
template <class T>
struct Dense {
  std::uint64_t n;
  std::uint64_t ld;
  std::vector<T> elements;

  explicit Dense(std::uint64_t order, std::uint64_t leading = 0)
      : n(order), ld(leading == 0 ? order : leading), elements(ld * order, T{}) {}
  T& operator()(std::uint64_t i, std::uint64_t j) { return elements[i + j * ld]; }
  T const& operator()(std::uint64_t i, std::uint64_t j) const { return elements[i + j * ld]; }
};

/// A random symmetric positive definite matrix; the entries between n and ld are a mark that must not change.
template <class T>
Dense<T> random_spd(std::uint64_t n, std::uint64_t ld = 0, std::uint64_t seed = 1) {
  Dense<T> a(n, ld);
  std::fill(a.elements.begin(), a.elements.end(), T(-7));
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < n; ++i) a(i, j) = static_cast<T>(spd_entry(n, seed, i, j));
  }
  return a;
}

/// LAPACK's factor of the triangle `uplo`, with the other triangle unchanged.
template <class T>
Dense<T> lapack_factor(Dense<T> a, Uplo uplo) {
  if (blas::potrf(uplo, static_cast<int>(a.n), a.elements.data(), static_cast<int>(a.ld)) != 0)
    throw std::logic_error("not positive definite");
  return a;
}

/// The Frobenius norm of A - L Lᵀ (or A - Uᵀ U) divided by n ε ‖A‖_F, in long double.
template <class T>
double dense_residual(Dense<T> const& a, Dense<T> const& factor, Uplo uplo) {
  long double rest = 0;
  long double norm = 0;
  for (std::uint64_t i = 0; i < a.n; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      long double product = 0;
      for (std::uint64_t k = 0; k <= j; ++k) {
        product += uplo == Uplo::Lower ? static_cast<long double>(factor(i, k)) * factor(j, k)
                                       : static_cast<long double>(factor(k, i)) * factor(k, j);
      }
      long double const value = uplo == Uplo::Lower ? a(i, j) : a(j, i);
      long double const weight = i == j ? 1 : 2;
      rest += weight * (value - product) * (value - product);
      norm += weight * value * value;
    }
  }
  double const epsilon = std::numeric_limits<T>::epsilon();
  return static_cast<double>(std::sqrt(rest / norm)) / (static_cast<double>(a.n) * epsilon);
}

}  // namespace granary::testing
