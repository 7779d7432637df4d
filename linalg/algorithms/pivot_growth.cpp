// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/pivot_growth.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>

#include <numeric>

namespace granary {

detail::TileMaxima::TileMaxima(detail::TileGrid const& grid)
    : m_grid(grid), m_matrix(count_tiles(grid, MatrixPart::All)), m_factor(m_matrix.size()) {}

PivotGrowth detail::TileMaxima::growth() const {
  auto const largest = [](std::vector<double> const& maxima) {
    return std::accumulate(maxima.begin(), maxima.end(), 0.0, kernels::max_or_nan);
  };
  return {.matrix = largest(m_matrix), .factor = largest(m_factor)};
}

}  // namespace granary
