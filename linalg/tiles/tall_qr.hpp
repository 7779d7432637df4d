// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// The tasks of QR factorizations of tall matrices that keep R alone, for CPU workers. T is one of the four scalars,
/// `priority` as in TaskSubmission.
namespace granary::tiles {

/// Columns of the matrix that is factored, from `to` on: `count` columns of a tile.
struct ColumnRun {
  static constexpr std::int32_t ones = -1;
  std::int32_t tile = 0;  ///< number in RowForm::tiles; `ones`: columns of ones
  std::int32_t from = 0;  ///< in the tile
  std::int32_t count = 0;
  std::int32_t to = 0;
};

/// How rows are made of a row of tiles.
struct RowForm {
  static constexpr std::int32_t no_weights = -1;
  std::vector<std::size_t> tiles;  ///< those of a row of tiles that have columns of it, at least one
  std::vector<ColumnRun> runs;
  std::int32_t weight_tile = no_weights;  ///< likewise, with the column of weights, by whose roots rows are multiplied
  std::int32_t weight_column = 0;
};

/// R := the triangle of [R; S] = Q R', S the rows of the tiles that the form names; without `has_rows`, R has no value
/// before. `first` is the number of its first row. R is column-major and square. The task throws DataError if a weight
/// is negative.
template <class T>
void fold_rows(TaskEmitter& tasks, std::span<detail::TileRef const> row, std::shared_ptr<RowForm const> form,
               std::uint64_t first, bool has_rows, detail::TileRef const& r, std::int64_t priority = 0);

}  // namespace granary::tiles
