// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/files/csv_file.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace granary::app {

/// Blocks of rows of a CSV file, which tasks read in the order of the text, one at a time. There are `ring` blocks in
/// memory: block i waits until the tasks on block i - ring have ended. After the last block the text has no more lines.
class CsvBlocks {
 public:
  CsvBlocks(TaskEmitter& tasks, CsvInfo const& info, std::uint64_t rows, std::uint64_t ring);

  [[nodiscard]] std::uint64_t count() const { return m_grid.tile_rows(); }
  [[nodiscard]] detail::TileGrid const& grid() const { return m_grid; }
  /// Emits the task that reads block i, after those before it, as a row-major tile. The task throws what CsvRows::next
  /// throws.
  [[nodiscard]] detail::TileRef read(std::uint64_t i);

 private:
  TaskEmitter& m_tasks;
  detail::TileGrid m_grid;
  std::shared_ptr<CsvRows> m_text;
  detail::OwnedData m_turn;
  detail::OwnedData m_blocks;
};

}  // namespace granary::app
