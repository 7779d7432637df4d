// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/lu.hpp>

#include <cstdint>
#include <vector>

#include "unit/linalg/rectangle.hpp"

/// LU factorizations of dense matrices by tiles; each task runs immediately.
namespace granary::testing {

/// Pivots in host memory that any submitter's tasks can use in place.
class BoundPivots {
 public:
  explicit BoundPivots(detail::TileGrid const& grid) : m_pivots(grid) {}

  [[nodiscard]] detail::PivotData bind(ImmediateSubmitter& submitter) {
    detail::PivotData data;
    auto const& grid = m_pivots.grid();
    for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
      data.panels.push_back(submitter.bind("pivots", pivot_bytes(grid, k), m_pivots.panel(k)));
    }
    return data;
  }
  [[nodiscard]] std::uint64_t info() const { return m_pivots.zero_pivot().value_or(0); }
  [[nodiscard]] std::vector<std::uint64_t> exchanges() const {
    std::vector<std::uint64_t> rows;
    for (std::uint64_t k = 0; k < m_pivots.size(); ++k) rows.push_back(m_pivots[k]);
    return rows;
  }

 private:
  Pivots m_pivots;
};

/// The results of LAPACK's getrf besides the factors; rows are counted from 0.
struct LuResult {
  std::uint64_t info;
  std::vector<std::uint64_t> exchanges;
};

template <class T>
LuResult tiled_getrf(Rectangle<T>& a, std::uint64_t tile, LuOptions const& options, BoundPivots& pivots) {
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  getrf(tasks, bind_rectangle(submitter, a, tile), pivots.bind(submitter), options);
  return {pivots.info(), pivots.exchanges()};
}
template <class T>
LuResult tiled_getrf(Rectangle<T>& a, std::uint64_t tile, LuOptions const& options) {
  BoundPivots pivots(detail::TileGrid{a.rows, a.cols, tile});
  return tiled_getrf(a, tile, options, pivots);
}

template <class T>
void tiled_getrf_nopiv(Rectangle<T>& a, std::uint64_t tile, LuOptions const& options) {
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  getrf_nopiv(tasks, bind_rectangle(submitter, a, tile), options);
}

/// B := op(A)^-1 B; no pivots: null.
template <class T>
void tiled_getrs(Op op, Rectangle<T>& lu, BoundPivots* pivots, Rectangle<T>& b, std::uint64_t tile) {
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  auto const data = pivots != nullptr ? pivots->bind(submitter) : detail::PivotData{};
  getrs(tasks, op, bind_rectangle(submitter, lu, tile), pivots != nullptr ? &data : nullptr,
        bind_rectangle(submitter, b, tile, MatrixPart::All, "B"));
}

}  // namespace granary::testing
