// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/vector_file.hpp>
#include <granary/detail/linalg/runtime/pivots_file.hpp>

#include <algorithm>

namespace granary {

std::vector<std::int64_t> rows_of(Pivots const& pivots) {
  std::vector<std::int64_t> rows(pivots.size());
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::int64_t>(pivots[k]);
  return rows;
}

Pivots pivots_from_rows(detail::TileGrid const& grid, std::span<std::int64_t const> rows) {
  Pivots pivots(grid);
  if (rows.size() != pivots.size()) {
    throw DataError("there are " + std::to_string(rows.size()) + " pivots for a matrix of " +
                    std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] < static_cast<std::int64_t>(k) || rows[k] >= static_cast<std::int64_t>(grid.rows)) {
      throw DataError("pivot " + std::to_string(k) + " is row " + std::to_string(rows[k]) + " of a matrix of " +
                      std::to_string(grid.rows) + " rows");
    }
  }
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    auto const first = grid.first(k);
    auto const count = std::min(grid.tile, pivots.size() - first);
    auto const panel = detail::PanelExchanges::at(pivots.panel(k), grid.rows_in(k));
    std::ranges::copy(rows.subspan(first, count), panel.pivots.begin());
    panel.derive(static_cast<std::int64_t>(first), static_cast<std::int64_t>(grid.rows_in(k)),
                 static_cast<std::int64_t>(count));
  }
  return pivots;
}

Pivots open_pivots(std::string const& path, detail::TileGrid const& grid, std::string const& dataset) {
  return pivots_from_rows(grid, read_vector(path, dataset, std::min(grid.rows, grid.cols)));
}

}  // namespace granary
