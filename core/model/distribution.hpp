// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/data.hpp>

#include <cstdint>
#include <string>

namespace granary {

/// Maps data to processes. A process owns a datum and runs all tasks that write it. The processes form a grid of `rows`
/// times `columns`, over which the tiles of matrices are dealt cyclically, as in ScaLAPACK with tiles for blocks.
///
/// ```cpp
/// granary::Distribution const grid(2, 3);
/// assert(grid.owner({.row = 3, .column = 4}) == granary::ProcessId(4));  // row 1, column 1 of the grid
/// assert(granary::Distribution::for_processes(6).columns() == 3);
/// ```
class GRANARY_EXPORT Distribution {
 public:
  /// Throws InvalidArgument for a grid without processes, or of more than `most_processes`.
  Distribution(std::uint32_t rows, std::uint32_t columns) : m_rows(rows), m_columns(columns) {
    if (rows == 0 || columns == 0 || rows > most_processes / columns) {
      throw InvalidArgument("a grid of " + std::to_string(rows) + " x " + std::to_string(columns) +
                            " processes is out of range: it has 1 to " + std::to_string(most_processes));
    }
  }
  /// The grid nearest to a square, with no more rows than columns. Throws as the constructor.
  [[nodiscard]] static Distribution for_processes(std::uint32_t processes) {
    std::uint32_t rows = 1;
    for (std::uint32_t r = 1; std::uint64_t{r} * r <= processes; ++r) {
      if (processes % r == 0) rows = r;
    }
    return {rows, processes / rows};
  }

  static constexpr std::uint32_t most_processes = 65536;

  [[nodiscard]] std::uint32_t rows() const { return m_rows; }
  [[nodiscard]] std::uint32_t columns() const { return m_columns; }
  [[nodiscard]] std::uint32_t processes() const { return m_rows * m_columns; }
  /// The owner of the datum at this position of its matrix; the first process, if it belongs to no matrix.
  [[nodiscard]] ProcessId owner(detail::MatrixPosition position) const {
    auto const row = static_cast<std::uint32_t>(position.row < 0 ? 0 : position.row);
    auto const column = static_cast<std::uint32_t>(position.column < 0 ? 0 : position.column);
    return ProcessId(row % m_rows * m_columns + column % m_columns);
  }

 private:
  std::uint32_t m_rows;
  std::uint32_t m_columns;
};

}  // namespace granary
