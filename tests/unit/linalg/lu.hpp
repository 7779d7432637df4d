// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/scalars.hpp"
#include "unit/linalg/bounds.hpp"
#include "unit/linalg/exact.hpp"
#include "unit/linalg/placed_matrix.hpp"

/// Common parts of the tests of LU factorizations.
namespace granary::testing {

/// LAPACK's factors, its row exchanges from 0, and its INFO.
template <class T>
struct LapackLu {
  Rectangle<T> factors;
  std::vector<int> pivots;
  int info;

  explicit LapackLu(Rectangle<T> const& a)
      : factors(rectangle_of<T>(a.rows, a.cols, a)), pivots(std::min(a.rows, a.cols)) {
    info = blas::getrf(static_cast<int>(a.rows), static_cast<int>(a.cols), factors.elements.data(),
                       static_cast<int>(a.rows), pivots.data());
    for (auto& pivot : pivots) --pivot;
  }
};

/// A with rows exchanged; [i] is the row that row i is exchanged with.
template <class T, class Pivots>
[[nodiscard]] Rectangle<T> exchange(Rectangle<T> a, Pivots const& pivots, std::uint64_t count, bool back = false) {
  for (std::uint64_t step = 0; step < count; ++step) {
    auto const i = back ? count - 1 - step : step;
    for (std::uint64_t j = 0; j < a.cols; ++j) std::swap(a(i, j), a(static_cast<std::uint64_t>(pivots[i]), j));
  }
  return a;
}

/// L of m x k, k the smaller extent, with its unit diagonal.
template <class T>
[[nodiscard]] Rectangle<T> unit_lower(Rectangle<T> const& factors) {
  return rectangle_of<T>(factors.rows, std::min(factors.rows, factors.cols), [&](std::uint64_t i, std::uint64_t j) {
    return i == j ? T(1) : i > j ? factors(i, j) : T(0);
  });
}
template <class T>
[[nodiscard]] Rectangle<T> upper(Rectangle<T> const& factors) {
  return rectangle_of<T>(std::min(factors.rows, factors.cols), factors.cols,
                         [&](std::uint64_t i, std::uint64_t j) { return i <= j ? factors(i, j) : T(0); });
}
template <class T>
[[nodiscard]] double largest_modulus(Rectangle<T> const& a) {
  return largest_difference(a, Rectangle<T>(a.rows, a.cols));
}

/// The data of the growth, on a submitter that runs tasks immediately.
[[nodiscard]] inline detail::GrowthData bind_growth(ImmediateSubmitter& submitter, detail::TileMaxima& maxima) {
  return maxima.bind([&](char const* name, double& number) { return submitter.bind(name, sizeof(double), &number); });
}

/// max |P A - L U|, which lu_bound limits; infinite if an element is NaN.
template <class T, class Pivots>
[[nodiscard]] double lu_residual(Rectangle<T> const& a, Rectangle<T> const& factors, Pivots const& pivots) {
  auto const product = multiply(unit_lower(factors), upper(factors));
  return largest_difference(exchange(rectangle_of<T>(a.rows, a.cols, a), pivots, std::min(a.rows, a.cols)), product);
}

/// No exchanges.
[[nodiscard]] inline std::vector<int> identity(std::uint64_t count) {
  std::vector<int> pivots(count);
  for (std::uint64_t i = 0; i < count; ++i) pivots[i] = static_cast<int>(i);
  return pivots;
}

/// The data of pivots in host memory.
[[nodiscard]] inline detail::PivotData bind_pivots(ImmediateSubmitter& submitter, Pivots& pivots) {
  detail::PivotData data;
  for (std::uint64_t k = 0; k < pivots.grid().diagonal(); ++k) {
    data.panels.push_back(submitter.bind("pivots", pivot_bytes(pivots.grid(), k), pivots.panel(k)));
  }
  return data;
}

/// getrf, run immediately.
template <class T>
struct TiledLu {
  Rectangle<T> factors;
  Pivots pivots;

  TiledLu(Rectangle<T> const& a, std::uint64_t tile, detail::TileLayout layout = detail::TileLayout::ColumnMajor,
          LuOptions const& options = {})
      : factors(a), pivots(detail::TileGrid{a.rows, a.cols, tile}) {
    PlacedMatrix<T> placed(a, tile, layout);
    ImmediateSubmitter submitter;
    TaskEmitter tasks(submitter);
    getrf(tasks, placed.bind(submitter, "A"), bind_pivots(submitter, pivots), options);
    factors = placed.values();
    untouched = placed.padding_is_untouched();
  }
  bool untouched = false;
};

/// Diagonally dominant: no pivot is small.
template <class T>
[[nodiscard]] Rectangle<T> dominant(std::uint64_t rows, std::uint64_t cols, std::uint64_t seed = 1) {
  auto a = random_rectangle<T>(rows, cols, seed);
  for (std::uint64_t i = 0; i < std::min(rows, cols); ++i)
    a(i, i) += T(static_cast<detail::RealOf<T>>(2 * std::max(rows, cols)));
  return a;
}

using test::Scalars;

/// Extents on both sides of multiples of a tile of 16.
struct Extents {
  std::uint64_t rows, cols;
};
inline constexpr Extents every_extents[] = {{1, 1},   {1, 20},  {20, 1},   {15, 15},  {16, 16}, {17, 17}, {16, 40},
                                            {40, 16}, {90, 90}, {100, 90}, {90, 110}, {97, 30}, {30, 97}, {150, 64}};

}  // namespace granary::testing
