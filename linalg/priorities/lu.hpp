// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <algorithm>
#include <cstdint>

namespace granary::detail {

/// The times of the four kernels on full tiles, in any unit. The defaults are the ratios measured on one core with
/// tiles of 512.
struct GRANARY_EXPORT LuTimes {
  std::int64_t getrf = 14;
  std::int64_t trsm_ll = 19;
  std::int64_t trsm_ru = 19;
  std::int64_t gemm = 36;
};

/// The bottom levels of the tasks of a tiled LU factorization without pivoting, in closed form: the time from a task's
/// start to the end of the graph on an unbounded machine (DARTS, section 6.1).
///
/// With p, l, u, g the times of getrf, trsm_ll, trsm_ru and gemm, and e the last diagonal tile, the longest path from
/// any task follows its row or column to the diagonal and then the diagonal:
///   P(k) = p + (e-k) (max(l, u) + g + p) + r     r = u, l or 0 where rows, columns or neither are left below tile e
///   L(k,j) = (j-k) (l+g) + P(j), j <= e;         l + (e-k) (g+l) for the columns right of it
///   U(i,k) = (i-k) (u+g) + P(i), i <= e;         u + (e-k) (g+u) for the rows below it
///   G(i,j,k) = (min(i,j)-k) g + the level of the task that finishes tile (i,j): P, L or U
/// These are exact for tiles of one size; smaller last tiles make them an upper bound.
class GRANARY_EXPORT LuPriorities {
 public:
  constexpr LuPriorities(TileGrid const& grid, LuTimes const& times)
      : m_last(static_cast<std::int64_t>(grid.diagonal()) - 1),
        m_rest(grid.tile_rows() > grid.tile_cols()   ? times.trsm_ru
               : grid.tile_rows() < grid.tile_cols() ? times.trsm_ll
                                                     : 0),
        m_times(times) {}

  [[nodiscard]] constexpr std::int64_t getrf(std::uint64_t step) const {
    auto const [p, l, u, g] = m_times;
    return p + (m_last - number(step)) * (std::max(l, u) + g + p) + m_rest;
  }
  [[nodiscard]] constexpr std::int64_t trsm_ll(std::uint64_t step, std::uint64_t column) const {
    return solve(m_times.trsm_ll, step, column);
  }
  [[nodiscard]] constexpr std::int64_t trsm_ru(std::uint64_t row, std::uint64_t step) const {
    return solve(m_times.trsm_ru, step, row);
  }
  [[nodiscard]] constexpr std::int64_t gemm(std::uint64_t row, std::uint64_t column, std::uint64_t step) const {
    auto const finish = row == column ? getrf(row) : row < column ? trsm_ll(row, column) : trsm_ru(row, column);
    return number(std::min(row, column) - step) * m_times.gemm + finish;
  }

 private:
  static constexpr std::int64_t number(std::uint64_t index) { return static_cast<std::int64_t>(index); }
  [[nodiscard]] constexpr std::int64_t solve(std::int64_t time, std::uint64_t step, std::uint64_t target) const {
    auto const steps = std::min(number(target), m_last) - number(step);
    auto const onward = number(target) <= m_last ? getrf(target) : time;
    return steps * (time + m_times.gemm) + onward;
  }

  std::int64_t m_last;
  std::int64_t m_rest;
  LuTimes m_times;
};

/// The priority, above 0, of a task of a factorization with pivoting that changes tile column `column` in that step.
/// Panels are long and each needs the previous one. So earlier columns come first, and in a column earlier steps.
[[nodiscard]] constexpr std::int64_t pivoted_lu_priority(TileGrid const& grid, std::uint64_t column,
                                                         std::uint64_t step) {
  return static_cast<std::int64_t>((grid.tile_cols() - column) * grid.diagonal() + grid.diagonal() - step);
}

}  // namespace granary::detail
