// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/pivot_growth.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/lu.hpp>

#include <optional>
#include <span>
#include <string>

/// The measurement of the growth of LU, for its algorithms.
namespace granary::detail {

inline void require_growth(char const* function, TileGrid const& grid, std::optional<GrowthData> const& growth) {
  auto const tiles = count_tiles(grid, MatrixPart::All);
  if (growth && (growth->matrix.size() != tiles || growth->factor.size() != tiles)) {
    throw InvalidArgument(std::string(function) + " needs growth data for " + std::to_string(tiles) +
                          " tiles, but got " + std::to_string(growth->matrix.size()) + " and " +
                          std::to_string(growth->factor.size()) + " data");
  }
}

// The part of tile (k,j) that is U's.
inline MatrixPart part_in_factor(std::uint64_t k, std::uint64_t j) {
  return k == j ? MatrixPart::Upper : MatrixPart::All;
}

// Submits separate tasks that measure the growth, if requested.
template <class T>
class GrowthTasks {
 public:
  GrowthTasks(TaskEmitter& tasks, TiledMatrix<T> const& a, GrowthData const* growth)
      : m_tasks(tasks), m_a(a), m_growth(growth) {}

  // Tile (i,j) before its first change, in step 0.
  void before(std::uint64_t i, std::uint64_t j, std::uint64_t step, std::int64_t priority,
              std::span<Access const> turns = {}) {
    if (m_growth == nullptr || step > 0) return;
    tiles::max_modulus<T>(m_tasks.at(i, j, step), m_a(i, j), MatrixPart::All, m_growth->matrix[m_a.grid().slot(i, j)],
                          priority, turns);
  }
  // Tile (k,j) of U.
  void after(std::uint64_t k, std::uint64_t j, std::int64_t priority) {
    if (m_growth == nullptr) return;
    tiles::max_modulus<T>(m_tasks.at(k, j, k), m_a(k, j), part_in_factor(k, j), m_growth->factor[m_a.grid().slot(k, j)],
                          priority);
  }

 private:
  TaskEmitter& m_tasks;
  TiledMatrix<T> const& m_a;
  GrowthData const* m_growth;
};

}  // namespace granary::detail
