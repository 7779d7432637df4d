// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lapack/hard_matrices.hpp"

/// The matrices of the sweep of accuracies, each drawn from a seed: smooth covariances, and the textbook matrices on
/// which triangular solves lose accuracy.
namespace granary::sweep {

using testing::Rectangle;

enum class Family { Squared, Matern12, Matern32, Matern52, Hilbert, Kahan, Vandermonde, GradedDown, GradedUp, Random };
inline constexpr int families = 10;
inline constexpr char const* family_names[families] = {
    "squared exponential", "Matern 1/2",  "Matern 3/2", "Matern 5/2", "Hilbert", "Kahan",
    "Vandermonde",         "graded down", "graded up",  "random"};

/// What a seed draws, except for the elements.
struct Problem {
  std::uint64_t seed;
  Family family;
  std::uint64_t n, tile;
  int dimensions;  ///< of the points, 1 to 3
  bool sorted;     ///< the points, by their first coordinate
  bool grid;       ///< the points lie on a grid
  double length;   ///< of the covariances; steepness of the graded matrices and Kahan's
  double nugget;   ///< added to the diagonal, relative to the precision
  Uplo uplo;
  std::uint64_t leaf;  ///< LuOptions::leaf_tiles

  friend std::ostream& operator<<(std::ostream& out, Problem const& p) {
    return out << "seed " << p.seed << ": " << family_names[static_cast<int>(p.family)] << ", n " << p.n << ", tile "
               << p.tile << ", " << p.dimensions << "-D, " << (p.sorted ? "sorted" : "not sorted") << ", length "
               << p.length << ", nugget " << p.nugget << " eps, uplo " << static_cast<char>(p.uplo) << ", leaf "
               << p.leaf;
  }
};

/// Nine of ten orders are 40 to 200; `largest` bounds the others. Tiles are 32 to 512, most of them below n.
[[nodiscard]] inline Problem draw_problem(std::uint64_t seed, std::uint64_t largest) {
  detail::Random random(seed * 0x9e3779b97f4a7c15U + 1);
  auto const log_uniform = [&](double low, double high) { return low * std::pow(high / low, random.uniform()); };
  Problem p{};
  p.seed = seed;
  p.family = static_cast<Family>(random.below(families));
  bool const large = random.chance(0.1);
  auto const top = static_cast<double>(std::max<std::uint64_t>(largest, 201));
  p.n = static_cast<std::uint64_t>(large ? log_uniform(200, top) : log_uniform(40, 200));
  p.tile = static_cast<std::uint64_t>(log_uniform(32, std::min(512.0, std::max(33.0, static_cast<double>(p.n)))));
  if (random.chance(0.5)) p.tile = std::max<std::uint64_t>(32, p.tile / 32 * 32);
  p.dimensions = static_cast<int>(random.between(1, 3));
  p.sorted = random.chance(0.5);
  p.grid = random.chance(0.3);
  p.length = log_uniform(0.05, 1.5);
  p.nugget = log_uniform(0.5, random.chance(0.7) ? 1e3 : 1e10);
  p.uplo = random.chance(0.5) ? Uplo::Lower : Uplo::Upper;
  p.leaf = std::uint64_t{1} << random.below(4);
  return p;
}

namespace helpers {

[[nodiscard]] inline std::vector<std::vector<long double>> points_of(Problem const& p, detail::Random& random) {
  auto const d = static_cast<std::size_t>(p.dimensions);
  std::vector<std::vector<long double>> points(p.n, std::vector<long double>(d));
  auto const side = static_cast<std::uint64_t>(std::ceil(std::pow(static_cast<double>(p.n), 1.0 / p.dimensions)));
  for (std::uint64_t i = 0; i < p.n; ++i) {
    auto rest = i;
    for (auto& x : points[i]) {
      x = p.grid ? static_cast<long double>(rest % side) / static_cast<long double>(side) : random.uniform();
      rest /= side;
    }
  }
  if (p.sorted) {
    std::ranges::sort(points);
  } else {
    for (auto i = p.n; i-- > 1;) std::swap(points[i], points[random.below(i + 1)]);
  }
  return points;
}

[[nodiscard]] inline long double covariance(Family family, long double distance) {
  long double const root = std::sqrt(family == Family::Matern32 ? 3.0L : 5.0L) * distance;
  switch (family) {
    case Family::Squared:
      return std::exp(-distance * distance / 2);
    case Family::Matern12:
      return std::exp(-distance);
    case Family::Matern32:
      return (1 + root) * std::exp(-root);
    default:
      return (1 + root + root * root / 3) * std::exp(-root);
  }
}

/// The real matrix from which the family's are made; it is not symmetric for Kahan, Vandermonde and Random.
[[nodiscard]] inline Rectangle<long double> base_matrix(Problem const& p, bool single) {
  using testing::Rectangle;
  detail::Random random(p.seed + 77);
  auto const n = p.n;
  auto const make = [&](auto&& element) { return testing::rectangle_of<long double>(n, n, element); };
  auto const real = [](std::uint64_t i) { return static_cast<long double>(i); };
  switch (p.family) {
    case Family::Hilbert:
      return make([&](auto i, auto j) { return 1 / (real(i) + real(j) + 1); });
    case Family::Kahan:
      return make([&](auto i, auto j) { return testing::helpers::kahan(i, j, 1 - p.length / real(n)); });
    case Family::Vandermonde: {
      auto points = points_of(p, random);
      return make([&](auto i, auto j) {
        return std::pow(points[i][0], real(std::min<std::uint64_t>(n, 60) - 1) * real(j) / real(n - 1));
      });
    }
    case Family::Random:
      return make([&](auto, auto) { return 2 * random.uniform() - 1; });
    case Family::GradedDown:
    case Family::GradedUp: {
      // D S D, S random and dominant; D from 1 to 10^-range, or the other way round.
      long double const range = (single ? 6 : 30) * p.length / 1.5;
      std::vector<long double> scale(n);
      for (std::uint64_t i = 0; i < n; ++i) {
        auto const step = p.family == Family::GradedDown ? real(i) : real(n - 1 - i);
        scale[i] = std::pow(10.0L, -range * step / real(n - 1) / 2);
      }
      auto s = make([&](auto, auto) { return 2 * random.uniform() - 1; });
      return make([&](auto i, auto j) {
        auto const value = i == j ? 2 * std::sqrt(real(n)) : i > j ? s(i, j) : s(j, i);
        return scale[i] * value * scale[j];
      });
    }
    default: {
      auto const points = points_of(p, random);
      return make([&](auto i, auto j) {
        long double square = 0;
        for (std::size_t d = 0; d < points[i].size(); ++d)
          square += (points[i][d] - points[j][d]) * (points[i][d] - points[j][d]);
        return covariance(p.family, std::sqrt(square) / static_cast<long double>(p.length));
      });
    }
  }
}

/// Each element times the phases of its row and column.
template <class T>
[[nodiscard]] Rectangle<T> with_phases(Rectangle<long double> const& a, bool hermitian, std::uint64_t seed) {
  detail::Random random(seed + 5);
  auto const rows = testing::helpers::phases<T>(random, a.rows);
  auto const cols = hermitian ? rows : testing::helpers::phases<T>(random, a.cols);
  return testing::rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    if (hermitian && i == j) return T(static_cast<detail::RealOf<T>>(a(i, i)));
    return testing::shorten<T>(rows[i] * testing::Long<T>(a(i, j)) * detail::conjugate(cols[j]));
  });
}

}  // namespace helpers

template <class T>
[[nodiscard]] Rectangle<long double> real_matrix(Problem const& p) {
  return helpers::base_matrix(p, std::is_same_v<detail::RealOf<T>, float>);
}

/// A Hermitian matrix, positive definite but for rounding: the family's, or B Bᵀ / n where that is not symmetric, plus
/// the nugget times `part`.
template <class T>
[[nodiscard]] Rectangle<T> positive_definite(Problem const& p, Rectangle<long double> const& base, double part) {
  auto const n = p.n;
  auto a = base;
  if (p.family == Family::Kahan || p.family == Family::Vandermonde || p.family == Family::Random) {
    // In double precision where that is enough: what is factored is the rounded matrix.
    Rectangle<double> const b = testing::rectangle_of<double>(n, n, [&](auto i, auto j) { return base(j, i); });
    a = testing::rectangle_of<long double>(n, n, [&](auto i, auto j) {
      double sum = 0;
      for (std::uint64_t k = 0; k < n; ++k) sum += b(k, std::max(i, j)) * b(k, std::min(i, j));
      return static_cast<long double>(sum) / static_cast<long double>(n);
    });
  }
  long double largest = 0;
  for (std::uint64_t i = 0; i < n; ++i) largest = std::max(largest, a(i, i));
  bool const graded = p.family == Family::GradedDown || p.family == Family::GradedUp;
  for (std::uint64_t i = 0; i < n; ++i) {
    a(i, i) += static_cast<long double>(p.nugget * part) * testing::lapack_epsilon<T> * (graded ? a(i, i) : largest);
  }
  return helpers::with_phases<T>(a, true, p.seed);
}

template <class T>
[[nodiscard]] Rectangle<T> general(Problem const& p, Rectangle<long double> const& base) {
  return helpers::with_phases<T>(base, false, p.seed);
}

}  // namespace granary::sweep
