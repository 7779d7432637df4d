// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/algorithms/lu_growth.hpp>
#include <granary/detail/linalg/algorithms/operands.hpp>
#include <granary/detail/linalg/algorithms/row_exchanges.hpp>
#include <granary/detail/linalg/tiles/blas3.hpp>
#include <granary/detail/linalg/tiles/lu.hpp>
#include <granary/detail/linalg/tiles/stacked.hpp>
#include <granary/detail/linalg/tiles/trsm.hpp>

#include <algorithm>
#include <vector>

namespace granary {
namespace {

// One call per line of the algorithm, on whole tile columns.
template <class T>
class PivotedTasks {
 public:
  PivotedTasks(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::PivotData const& pivots,
               LuOptions const& options)
      : m_tasks(tasks),
        m_a(a),
        m_pivots(pivots),
        m_options(options),
        m_stack(options.inner_tile != 0 ? 1 : std::max<std::uint64_t>(1, options.stack)),
        m_growth(tasks, a, options.growth ? &*options.growth : nullptr) {}

  // P(k) A(k:,k) = L(k:,k) U(k,k), in one task if possible.
  void panel(std::uint64_t k) {
    auto const level = priority(k, k);
    measure_matrix(k, k);
    if (m_a.grid().tile_rows() - k <= m_options.leaf_tiles) {
      auto const part = m_a.stack(k, k, m_options.leaf_tiles);
      auto const rows = rows_below(k, part.size());
      detail::OwnedData workspace(m_tasks.submitter());
      tiles::getrf_panel<T>(m_tasks.at(k, k, k), {part, m_a.grid().first(k), m_a.grid().tile}, m_options.host_panels,
                            workspace.add(temporary("panel", tiles::panel_workspace(rows, m_a.grid().cols_in(k),
                                                                                    sizeof(T), m_options.host_panels))),
                            m_pivots.panels[k], level);
    } else {
      tournament(k);
      exchange(k, k);
      with_workspace("panel", m_a.grid().rows_in(k), k, [&](DataId workspace) {
        tiles::getrf_ordered<T>(m_tasks.at(k, k, k), m_a(k, k), workspace, m_pivots.panels[k], m_a.grid().first(k),
                                level);
      });
      for (auto i = k + 1; i < m_a.grid().tile_rows(); ++i) {
        tiles::trsm_ru_ordered<T>(m_tasks.at(i, k, k), leading_square(m_a(k, k)), m_a(i, k), level);
      }
    }
    m_growth.after(k, k, level);
  }
  // For the columns j from `first` to `end`: A(:,j) := P(k) A(:,j), then A(k,j) := L(k,k)^-1 A(k,j), and for i > k
  // A(i,j) := A(i,j) - A(i,k) A(k,j).
  void update(std::uint64_t k, std::uint64_t first, std::uint64_t end) {
    for (auto j = first; j < end; ++j) {
      auto const level = priority(j, k);
      measure_matrix(j, k);
      exchange(k, j);
      tiles::trsm(m_tasks.at(k, j, k), Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1),
                  leading_square(m_a(k, k)), m_a(k, j), level);
      m_growth.after(k, j, level);
    }
    for (auto i = k + 1; i < m_a.grid().tile_rows();) {
      // Stacks begin at multiples of their number of tiles, so that all tasks have the same ones.
      auto const next = (i / m_stack + 1) * m_stack;
      for (auto j = first; j < end; ++j) {
        tiles::gemm<T>(m_tasks.at(i, j, k), Op::NoTrans, T(-1), m_a.stack(i, k, next - i), m_a(k, j),
                       m_a.stack(i, j, next - i), priority(j, k));
      }
      i = next;
    }
  }
  // A(:,j) := P(k) A(:,j)
  void exchange(std::uint64_t k, std::uint64_t j) {
    detail::exchange_rows(m_tasks, m_a, k, j, m_pivots.panels[k], detail::SwapDirection::Forward,
                          std::min(m_options.leaf_tiles, detail::most_exchanged), j < k ? 0 : priority(j, k),
                          turns_of(k, j));
  }
  // The exchanges of all later panels in column j of L: in one task where panels are one task, too.
  void exchange_in_factor(std::uint64_t j) {
    auto const& grid = m_a.grid();
    auto const below = m_a.stack(j + 1, j, grid.tile_rows());
    if (below.size() <= m_options.leaf_tiles) {
      auto const later = std::span(m_pivots.panels).subspan(j + 1);
      tiles::swap_all_rows<T>(m_tasks.at(j, j, j), {below, grid.first(j + 1), grid.tile}, later, 0);
      return;
    }
    for (auto k = j + 1; k < grid.diagonal(); ++k) exchange(k, j);
  }
  // The columns from `first` on follow, which wait until the panel before them is factored. Otherwise idle workers
  // would begin more columns than the memory holds.
  void begin_columns(std::uint64_t first) { m_first_column = first; }

 private:
  // The pivots of panel k: rounds with the same number of competitors in each group, until one group is left.
  void tournament(std::uint64_t k) {
    auto const& grid = m_a.grid();
    auto const level = priority(k, k);
    auto const cols = grid.cols_in(k);
    auto const matched = std::max<std::uint64_t>(2, m_options.leaf_tiles);
    detail::OwnedData round(m_tasks.submitter());
    std::uint64_t last_rows = 0;  // rows of the round's last part; all others have the panel's number of columns
    for (auto i = k; i < grid.tile_rows(); i += m_options.leaf_tiles) {
      auto const part = m_a.stack(i, k, m_options.leaf_tiles);
      auto const rows = rows_below(i, part.size());
      last_rows = std::min(rows, cols);
      auto const winners = round.add(temporary("winners", tiles::winners_bytes<T>(last_rows, cols)));
      with_workspace("workspace", rows, k, [&](DataId workspace) {
        tiles::select_rows<T>(m_tasks.at(i, k, k), {part, grid.first(i), grid.tile}, workspace, winners, level);
      });
    }
    auto const match = [&](std::size_t begin, std::size_t count) {
      return tiles::Match{round.ids().subspan(begin, count), cols, begin + count == round.size() ? last_rows : cols};
    };
    while (round.size() > matched) {
      detail::OwnedData next(m_tasks.submitter());
      for (std::size_t begin = 0; begin < round.size(); begin += matched) {
        auto const candidates = match(begin, std::min<std::size_t>(matched, round.size() - begin));
        auto const rows = std::min(candidates.rows(), cols);
        auto const winners = next.add(temporary("winners", tiles::winners_bytes<T>(rows, cols)));
        with_workspace("workspace", candidates.rows(), k, [&](DataId workspace) {
          tiles::merge_rows<T>(m_tasks.at(k, k, k), candidates, workspace, winners, level);
        });
        if (begin + matched >= round.size()) last_rows = rows;
      }
      round = std::move(next);
    }
    auto const last = match(0, round.size());
    with_workspace("workspace", last.rows(), k, [&](DataId workspace) {
      tiles::final_rows<T>(m_tasks.at(k, k, k), last, m_a(k, k), grid.first(k), workspace, m_pivots.panels[k], level);
    });
  }
  // A task with a workspace for `rows` rows of tile column k.
  template <class Emit>
  void with_workspace(char const* name, std::uint64_t rows, std::uint64_t k, Emit&& emit) {
    detail::OwnedData workspace(m_tasks.submitter());
    emit(workspace.add(temporary(name, rows * m_a.grid().cols_in(k) * sizeof(T))));
  }
  [[nodiscard]] detail::DataDescription temporary(std::string const& name, Bytes bytes) const {
    return {.name = name + " of " + m_a.name(), .bytes = bytes, .origin = {}, .home = {}};
  }
  // Rows of `count` tiles of a tile column, from tile row i on.
  [[nodiscard]] std::uint64_t rows_below(std::uint64_t i, std::uint64_t count) const {
    return std::min(count * m_a.grid().tile, m_a.grid().rows - m_a.grid().first(i));
  }
  void measure_matrix(std::uint64_t j, std::uint64_t step) {
    auto const turns = turns_of(step, j);
    for (std::uint64_t i = 0; i < m_a.grid().tile_rows(); ++i) m_growth.before(i, j, step, priority(j, step), turns);
  }
  [[nodiscard]] std::int64_t priority(std::uint64_t column, std::uint64_t step) const {
    return m_options.priorities ? pivoted_lu_priority(m_a.grid(), column, step) : 0;
  }

  // The accesses that order the exchange of panel k in column j.
  std::vector<detail::Access> turns_of(std::uint64_t k, std::uint64_t j) const {
    auto const before = std::min(m_first_column, m_a.grid().diagonal());
    if (j < k || k > 0 || before < 2) return {};
    return {{m_pivots.panels[before - 1], detail::AccessMode::Read}};
  }

  TaskEmitter& m_tasks;
  detail::TiledMatrix<T> const& m_a;
  detail::PivotData const& m_pivots;
  LuOptions const& m_options;
  std::uint64_t m_stack;
  detail::GrowthTasks<T> m_growth;
  std::uint64_t m_first_column = 0;  // of the present block
};

}  // namespace

LuOptions fit_panels(LuOptions options, detail::TileGrid const& grid, Bytes element, Bytes memory) {
  constexpr Bytes most_alignment = 4096;  // of data in memories
  options.host_panels = true;
  Bytes const column = grid.tile_rows() * round_up(grid.largest_tile() * element, most_alignment);
  Bytes const workspace = round_up(tiles::panel_workspace(grid.rows, grid.tile, element, true), most_alignment);
  if (column + workspace > memory / 4 * 3) return options;
  options.leaf_tiles = grid.tile_rows();
  if (grid.rows * grid.cols * element > memory) {
    options.order = detail::FactorOrder::LeftLooking;
    options.columns = std::max<std::uint64_t>(1, memory / 5 * 4 / column);
  }
  return options;
}

template <class T>
void getrf(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, detail::PivotData const& pivots,
           LuOptions const& options) {
  auto const& grid = a.grid();
  detail::require_part("getrf", {"A", a}, MatrixPart::All);
  detail::require_pivots("getrf", grid, pivots);
  detail::require_growth("getrf", grid, options.growth);
  if (options.leaf_tiles < 1) throw InvalidArgument("getrf needs at least 1 tile in a leaf of its tournament, not 0");
  if (options.columns < 1) throw InvalidArgument("getrf needs at least 1 tile column in a block of columns, not 0");
  detail::InnerTileScope const scope(tasks, options.inner_tile);
  PivotedTasks<T> emit(tasks, a, pivots, options);
  auto const panels = grid.diagonal(), cols = grid.tile_cols();
  if (options.order == detail::FactorOrder::RightLooking) {
    for (std::uint64_t k = 0; k < panels; ++k) {
      emit.panel(k);
      for (auto j = k + 1; j < cols; ++j) emit.update(k, j, j + 1);
    }
  } else {
    for (std::uint64_t first = 0; first < cols; first += options.columns) {
      auto const end = std::min(first + options.columns, cols);
      emit.begin_columns(first);
      for (std::uint64_t k = 0; k < std::min(first, panels); ++k) emit.update(k, first, end);
      for (auto j = first; j < std::min(end, panels); ++j) {
        emit.panel(j);
        if (j + 1 < end) emit.update(j, j + 1, end);
      }
    }
  }
  for (std::uint64_t j = 0; j + 1 < panels; ++j) emit.exchange_in_factor(j);
}

#define GRANARY_INSTANTIATE(T) \
  template void getrf(TaskEmitter&, detail::TiledMatrix<T> const&, detail::PivotData const&, LuOptions const&);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
