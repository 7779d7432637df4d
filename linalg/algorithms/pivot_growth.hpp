// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace granary {

/// max |a_ij| of a matrix before its factorization and max |u_ij| of its factor; NaN if one of these elements is.
struct GRANARY_EXPORT PivotGrowth {
  double matrix = 0;
  double factor = 0;
  /// The pivot growth: about the factor by which rounding errors are amplified. NaN for a matrix of zeros.
  [[nodiscard]] double ratio() const { return factor / matrix; }
};

namespace detail {

/// One datum per slot of the matrix' grid, each a double. A factorization overwrites them with the largest modulus of
/// each tile before its first change, and of each tile of U; ids below the diagonal of U are invalid. There is one per
/// tile, so that no tile waits for the measurement of another.
struct GRANARY_EXPORT GrowthData {
  std::vector<DataId> matrix;
  std::vector<DataId> factor;
};

/// The memory of a matrix' GrowthData.
class GRANARY_EXPORT TileMaxima {
 public:
  explicit TileMaxima(TileGrid const& grid);

  /// The data; `add(name, number)` returns each, where `number` is a double in this object.
  template <class Add>
  [[nodiscard]] GrowthData bind(Add&& add) {
    GrowthData data{std::vector<DataId>(m_matrix.size()), std::vector<DataId>(m_factor.size())};
    for (std::uint64_t slot = 0; slot < m_matrix.size(); ++slot) {
      data.matrix[slot] = add("max |A|", m_matrix[slot]);
      if (in_factor(slot)) data.factor[slot] = add("max |U|", m_factor[slot]);
    }
    return data;
  }
  /// Combines the maxima of the tiles. O(tiles).
  [[nodiscard]] PivotGrowth growth() const;

 private:
  [[nodiscard]] bool in_factor(std::uint64_t slot) const {
    return holds(MatrixPart::Upper, m_grid.row_of(slot), m_grid.col_of(slot));
  }

  TileGrid m_grid;
  std::vector<double> m_matrix;
  std::vector<double> m_factor;
};

}  // namespace detail

}  // namespace granary
