// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/algorithms/not_finite.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/linalg/runtime/shared_sink.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/processes.hpp"
#include "apps/common/session.hpp"

namespace granary::app {

/// The matrix that a run computes: written to the output, or dropped if there is none.
template <class T>
class ResultMatrix {
 public:
  /// `origin`: the initial values; null if tasks overwrite them. `like`: a file whose dimensions and names of columns
  /// the output gets. Throws what Session::make_sink throws.
  ResultMatrix(Session& session, detail::TileGrid const& grid, MatrixPart part, std::string name,
               std::shared_ptr<detail::Storage> const& origin, detail::MatrixFileInfo const& like = {})
      : m_session(session),
        m_grid(grid),
        m_part(part),
        m_name(std::move(name)),
        m_sink(session.make_sink({.rows = grid.rows,
                                  .cols = grid.cols,
                                  .tile = grid.tile,
                                  .scalar_type = scalar_type_of<T>,
                                  .part = part,
                                  .dataset = m_name,
                                  .dimensions = like.dimensions,
                                  .columns = like.columns})),
        m_tiles(add_file_matrix<T>(session.runtime().session(), grid, part, m_name, origin, m_sink)) {}

  [[nodiscard]] detail::TiledMatrix<T> const& tiles() const { return m_tiles; }
  /// Has later tasks read the values from the output, if there is one.
  void read_back() {
    if (!m_sink) return;
    m_tiles.release(m_session.submitter());
    m_tiles = add_file_matrix<T>(m_session.runtime().session(), m_grid, m_part, m_name, m_sink, nullptr);
  }
  /// Throws NotFinite, about `result`, if an element of its tiles for which `looks_at(i, j)` is true is NaN or
  /// infinite; waits. Reads these tiles once.
  template <class LooksAt>
  void require_finite(std::string const& result, LooksAt const& looks_at) {
    TaskEmitter tasks(m_session.submitter());
    std::vector<HostNumbers> largest;
    for (std::uint64_t i = 0; i < m_grid.tile_rows(); ++i) {
      for (std::uint64_t j = 0; j < m_grid.tile_cols(); ++j) {
        if (!holds(m_part, i, j) || !looks_at(i, j)) continue;
        auto const tile = m_tiles(i, j);
        detail::TileGrid const alone{m_grid.rows_in(i), m_grid.cols_in(j), m_grid.tile};
        detail::TiledMatrix<T> const matrix(alone, MatrixPart::All, tile.layout, static_cast<std::uint64_t>(tile.ld),
                                            [&](std::uint64_t, std::uint64_t) { return tile.data; });
        submit_lange(tasks, Norm::Max, matrix, largest.emplace_back(m_session.runtime()).id());
      }
    }
    m_session.wait();
    for (auto const& number : largest) {
      if (!std::isfinite(number.values(m_session.runtime())[0])) throw NotFinite(result);
    }
  }
  /// Ends the use of the matrix, waits, and renames the output, after `add` has added other datasets to it.
  void commit(std::function<void(detail::MatrixSink&)> const& add = [](detail::MatrixSink&) {}) {
    m_tiles.release(m_session.submitter());
    m_session.wait();
    if (!m_sink) return;
    if (is_first_process()) add(*m_sink);
    commit_sink(m_session.runtime().session(), *m_sink);
  }

 private:
  Session& m_session;
  detail::TileGrid m_grid;
  MatrixPart m_part;
  std::string m_name;
  std::shared_ptr<detail::MatrixSink> m_sink;
  detail::TiledMatrix<T> m_tiles;
};

}  // namespace granary::app
