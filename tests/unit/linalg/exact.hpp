// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "unit/linalg/rectangle.hpp"

/// Matrices on which products, factorizations and solves are exact in floating point: their entries, and all values
/// computed from them, are multiples of powers of two that fit in a float's 24 bits. So results do not depend on the
/// order of sums or on fused operations, and the tests compare with ==, for any BLAS.
///
/// Triangles T = D + N have exact solves if D holds powers of two and N² = 0: T^-1 = D^-1 - D^-1 N D^-1. Here the
/// nonzero rows of N are even and the nonzero columns odd, or the other way round.
namespace granary::testing {

/// Odd multiples of 1/8 in (-1, 1): real and imaginary part.
template <class T>
[[nodiscard]] T random_eighth(detail::Random& random) {
  using R = detail::RealOf<T>;
  return scalar_of_parts<T>([&] { return static_cast<R>(2 * static_cast<int>(random.below(8)) - 7) / R(8); });
}

/// A drawn_rectangle of such elements.
template <class T>
[[nodiscard]] Rectangle<T> random_eighths(std::uint64_t rows, std::uint64_t cols, std::uint64_t seed = 1,
                                          std::uint64_t padding = 0) {
  detail::Random random(seed);
  return drawn_rectangle<T>(rows, cols, padding, [&] { return random_eighth<T>(random); });
}

/// 1 or -1, or i or -i if T is complex.
template <class T>
[[nodiscard]] T random_unit(detail::Random& random) {
  using R = detail::RealOf<T>;
  R const sign = random.below(2) == 0 ? R(1) : R(-1);
  if constexpr (detail::is_complex<T>) {
    return random.below(2) == 0 ? T(sign, 0) : T(0, sign);
  } else {
    return sign;
  }
}

/// Both triangles have exact solves, with their diagonal or with ones. In the strict triangles a quarter of the entries
/// allowed in N are nonzero, of modulus `below` or 1; the diagonal holds `diagonal` or twice that, times a unit.
template <class T>
[[nodiscard]] Rectangle<T> exact_triangles(std::uint64_t rows, std::uint64_t cols, std::uint64_t seed = 1,
                                           double below = 1, double diagonal = 1) {
  using R = detail::RealOf<T>;
  detail::Random random(seed);
  return rectangle_of<T>(rows, cols, [&](std::uint64_t i, std::uint64_t j) {
    T const unit = random_unit<T>(random);
    auto const draw = random.below(4);
    if (i == j) return unit * T(static_cast<R>(draw < 2 ? diagonal : 2 * diagonal));
    bool const in_n = i > j ? i % 2 == 0 && j % 2 == 1 : i % 2 == 1 && j % 2 == 0;
    return in_n && draw == 0 ? unit * T(static_cast<R>(i > j ? below : 1)) : T(0);
  });
}

/// A Hermitian positive definite matrix, and the Cholesky factors that any correct factorization returns.
template <class T>
struct ExactCholesky {
  Rectangle<T> a, lower, upper;  ///< a = lower lower^H = upper^H upper

  explicit ExactCholesky(std::uint64_t n, std::uint64_t seed = 1) : a(n, n), lower(n, n), upper(n, n) {
    auto const values = exact_triangles<T>(n, n, seed);
    lower = rectangle_of<T>(n, n, [&](std::uint64_t i, std::uint64_t j) {
      return i < j ? T(0) : i == j ? T(detail::modulus(values(i, i))) : values(i, j);
    });
    upper = op_of(Op::ConjTrans, lower);
    a = multiply(lower, upper);
  }
  [[nodiscard]] Rectangle<T> const& factor(Uplo uplo) const { return uplo == Uplo::Lower ? lower : upper; }
  /// The result of potrf for A: the factor, and A itself in the other triangle.
  [[nodiscard]] Rectangle<T> factored(Uplo uplo) const {
    return rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
      return in_triangle(uplo, i, j) ? factor(uplo)(i, j) : a(i, j);
    });
  }
};

/// L U with L of unit diagonal and entries of modulus 1/2 below it: `factors` is the result of a factorization without
/// pivoting, in both triangles, and partial pivoting exchanges no rows.
template <class T>
struct ExactLu {
  Rectangle<T> a, factors;

  /// If `zero` is given, that column of A and of the factors holds zeros.
  ExactLu(std::uint64_t rows, std::uint64_t cols, std::uint64_t seed = 1,
          std::uint64_t zero = std::numeric_limits<std::uint64_t>::max())
      : a(rows, cols), factors(exact_triangles<T>(rows, cols, seed, 0.5, 2)) {
    for (std::uint64_t i = 0; zero < cols && i < rows; ++i) factors(i, zero) = T(0);
    auto const inner = std::min(rows, cols);
    auto const lower = rectangle_of<T>(rows, inner, [&](std::uint64_t i, std::uint64_t j) {
      return i == j ? T(1) : i > j ? factors(i, j) : T(0);
    });
    auto const upper =
        rectangle_of<T>(inner, cols, [&](std::uint64_t i, std::uint64_t j) { return i <= j ? factors(i, j) : T(0); });
    a = multiply(lower, upper);
  }
};

/// A with its last rows first: for ExactLu's matrix, partial pivoting has only one candidate for each pivot, and is
/// exact.
template <class T>
[[nodiscard]] Rectangle<T> reversed(Rectangle<T> const& a) {
  return rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return a(a.rows - 1 - i, j); });
}

/// A matrix whose L is a permutation: a tournament also has only one candidate for each pivot.
template <class T>
[[nodiscard]] Rectangle<T> exact_permuted_upper(std::uint64_t n, std::uint64_t seed = 1) {
  return reversed(triangle_of(Uplo::Upper, Diag::NonUnit, exact_triangles<T>(n, n, seed, 1, 2)));
}

}  // namespace granary::testing
