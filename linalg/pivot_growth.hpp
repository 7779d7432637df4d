// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/linalg/tile_grid.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// max |a_ij| of a matrix before its factorization and max |u_ij| of its factor; NaN if one of these elements is.
struct PivotGrowth {
  double matrix = 0;
  double factor = 0;
  /// The pivot growth: about the factor by which the backward error exceeds rounding. NaN for a matrix of zeros.
  [[nodiscard]] double ratio() const { return factor / matrix; }
};

/// Data of one double each, by slots of the matrix' grid, which a factorization overwrites by the largest modulus of
/// each tile before its first change and of each tile of U; invalid ids below the diagonal of U. One for each tile, so
/// that no tile waits for another to be measured.
struct GrowthData {
  std::vector<DataId> matrix;
  std::vector<DataId> factor;
};

/// The memory of the GrowthData of a matrix.
class TileMaxima {
 public:
  explicit TileMaxima(TileGrid const& grid);

  /// The data, each what `add(name, number)` gives, where `number` is a double of this.
  template <class Add>
  [[nodiscard]] GrowthData bind(Add&& add) {
    GrowthData data{std::vector<DataId>(m_matrix.size()), std::vector<DataId>(m_factor.size())};
    for (std::uint64_t slot = 0; slot < m_matrix.size(); ++slot) {
      data.matrix[slot] = add("max |A|", m_matrix[slot]);
      if (in_factor(slot)) data.factor[slot] = add("max |U|", m_factor[slot]);
    }
    return data;
  }
  /// What the tiles' maxima amount to. O(tiles).
  [[nodiscard]] PivotGrowth growth() const;

 private:
  [[nodiscard]] bool in_factor(std::uint64_t slot) const {
    return holds(MatrixPart::Upper, m_grid.row_of(slot), m_grid.col_of(slot));
  }

  TileGrid m_grid;
  std::vector<double> m_matrix;
  std::vector<double> m_factor;
};

}  // namespace granary

#pragma GCC visibility pop
