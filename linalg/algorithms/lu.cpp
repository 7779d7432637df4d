// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/core/model/owned_data.hpp>
#include <granary/linalg/algorithms/blas3.hpp>
#include <granary/linalg/algorithms/lu.hpp>
#include <granary/linalg/algorithms/operands.hpp>
#include <granary/linalg/tiles/blas3.hpp>
#include <granary/linalg/tiles/lu.hpp>
#include <granary/linalg/tiles/measured.hpp>
#include <granary/linalg/tiles/stacked.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace granary {
namespace {

std::string extents(TileGrid const& grid) { return std::to_string(grid.rows) + " x " + std::to_string(grid.cols); }

void require_pivots(char const* function, TileGrid const& grid, PivotData const& pivots) {
  if (pivots.panels.size() != grid.diagonal()) {
    throw InvalidArgument(std::string(function) + " got the pivots of " + std::to_string(pivots.panels.size()) +
                          " panels for a matrix of " + extents(grid) + ", which has " +
                          std::to_string(grid.diagonal()));
  }
}

void require_growth(char const* function, TileGrid const& grid, std::optional<GrowthData> const& growth) {
  auto const tiles = count_tiles(grid, MatrixPart::All);
  if (growth && (growth->matrix.size() != tiles || growth->factor.size() != tiles)) {
    throw InvalidArgument(std::string(function) + " needs growth data for " + std::to_string(tiles) +
                          " tiles, but got " + std::to_string(growth->matrix.size()) + " and " +
                          std::to_string(growth->factor.size()) + " data");
  }
}

// The part of tile (k,j) that is U's.
MatrixPart part_in_factor(std::uint64_t k, std::uint64_t j) { return k == j ? MatrixPart::Upper : MatrixPart::All; }
GrowthData const* growth_of(LuOptions const& options) { return options.growth ? &*options.growth : nullptr; }

// Submits separate tasks that measure the growth, if requested.
template <class T>
class GrowthTasks {
 public:
  GrowthTasks(TaskEmitter& tasks, TiledMatrix<T> const& a, GrowthData const* growth)
      : m_tasks(tasks), m_a(a), m_growth(growth) {}

  // Tile (i,j) before its first change, in step 0.
  void before(std::uint64_t i, std::uint64_t j, std::uint64_t step, std::int64_t priority) {
    if (m_growth == nullptr || step > 0) return;
    tiles::max_modulus<T>(m_tasks.at(i, j, step), m_a(i, j), MatrixPart::All, m_growth->matrix[m_a.grid().slot(i, j)],
                          priority);
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

// One task per call, and the measurement of the growth.
template <class T>
class NopivTasks {
 public:
  NopivTasks(TaskEmitter& tasks, TiledMatrix<T> const& a, LuOptions const& options)
      : m_a(a),
        m_options(options),
        m_levels(a.grid(), options.times),
        m_measuring(tasks.submitter()),
        m_measuring_tasks(m_measuring),
        m_measures(options.growth && tasks.inner_tile() == 0),
        m_tasks(m_measures ? m_measuring_tasks : tasks),
        m_growth(tasks, a, m_measures ? nullptr : growth_of(options)) {}

  // A(k,k) := L(k,k) U(k,k)
  void getrf(std::uint64_t k) {
    change(k, k, k, m_levels.getrf(k), [&](TaskEmitter& tasks, std::int64_t level) {
      tiles::getrf_nopiv<T>(tasks, m_a(k, k), m_options.first + m_a.grid().first(k), m_options.tiny, level);
    });
  }
  // A(k,j) := L(k,k)^-1 A(k,j)
  void trsm_ll(std::uint64_t k, std::uint64_t j) {
    change(k, j, k, m_levels.trsm_ll(k, j), [&](TaskEmitter& tasks, std::int64_t level) {
      tiles::trsm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), leading_square(m_a(k, k)), m_a(k, j),
                  level);
    });
  }
  // A(i,k) := A(i,k) U(k,k)^-1
  void trsm_ru(std::uint64_t i, std::uint64_t k) {
    change(i, k, k, m_levels.trsm_ru(i, k), [&](TaskEmitter& tasks, std::int64_t level) {
      tiles::trsm(tasks, Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), leading_square(m_a(k, k)),
                  m_a(i, k), level);
    });
  }
  // A(i,j) := A(i,j) - A(i,k) A(k,j)
  void gemm(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    change(i, j, k, m_levels.gemm(i, j, k), [&](TaskEmitter& tasks, std::int64_t level) {
      // The one that measures the tile before its first change stays the first.
      tasks.commuting(m_options.commuting && !(m_options.growth && k == 0));
      tiles::gemm(tasks, Op::NoTrans, Op::NoTrans, T(-1), m_a(i, k), m_a(k, j), T(1), m_a(i, j), level);
    });
  }

 private:
  // Emits the task of step k that changes tile (i,j).
  template <class Emit>
  void change(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::int64_t bottom_level, Emit&& emit) {
    auto const level = m_options.priorities ? bottom_level : 0;
    bool const ends_in_factor = i == k;  // the tile becomes a tile of U
    if (m_measures) {
      measure(i, j, k == 0, ends_in_factor);
    } else {
      m_growth.before(i, j, k, level);
    }
    emit(m_tasks.at(i, j, k), level);
    if (ends_in_factor) m_growth.after(k, j, level);
  }
  // Lets the next task measure tile (i,j), which it changes.
  void measure(std::uint64_t i, std::uint64_t j, bool before, bool after) {
    if (!before && !after) return;
    auto const slot = m_a.grid().slot(i, j);
    m_measuring.measure({.tile = m_a(i, j),
                         .before = before ? m_options.growth->matrix[slot] : DataId{},
                         .after = after ? m_options.growth->factor[slot] : DataId{},
                         .after_part = part_in_factor(i, j)});
  }

  TiledMatrix<T> const& m_a;
  LuOptions const& m_options;
  LuPriorities m_levels;
  tiles::MeasuringSubmitter<T> m_measuring;
  TaskEmitter m_measuring_tasks;
  bool m_measures;  // the tasks themselves measure
  TaskEmitter& m_tasks;
  GrowthTasks<T> m_growth;
};

template <class T>
void right_looking(NopivTasks<T>& emit, TileGrid const& grid) {
  auto const rows = grid.tile_rows(), cols = grid.tile_cols();
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    emit.getrf(k);
    for (std::uint64_t j = k + 1; j < cols; ++j) emit.trsm_ll(k, j);
    for (std::uint64_t i = k + 1; i < rows; ++i) emit.trsm_ru(i, k);
    for (std::uint64_t i = k + 1; i < rows; ++i) {
      for (std::uint64_t j = k + 1; j < cols; ++j) emit.gemm(i, j, k);
    }
  }
}

template <class T>
void left_looking(NopivTasks<T>& emit, TileGrid const& grid) {
  for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      for (std::uint64_t k = 0; k < std::min(i, j); ++k) emit.gemm(i, j, k);
      if (i < j) emit.trsm_ll(i, j);
      if (i == j) emit.getrf(j);
      if (i > j) emit.trsm_ru(i, j);
    }
  }
}

// Lower tiles in one task that exchanges rows in the factorization: fewer tasks than with fewer tiles, and more than
// one at a time.
constexpr std::uint64_t most_exchanged = 8;

// The row exchanges of panel k in tile column j of a matrix. Forward: the last task permutes the rows of the top tile;
// backward: the first one does.
template <class T>
void exchange_rows(TaskEmitter& tasks, TiledMatrix<T> const& a, std::uint64_t k, std::uint64_t j, DataId pivots,
                   SwapDirection direction, std::uint64_t group, std::int64_t priority,
                   std::span<Access const> turns = {}) {
  auto const& grid = a.grid();
  auto const end = grid.tile_rows();
  for (auto i = k + 1; i < end || i == k + 1; i += group) {
    std::vector<TileRef> lower;
    for (auto t = i; t < std::min(i + group, end); ++t) lower.push_back(a(t, j));
    auto const permute = direction == SwapDirection::Forward
                             ? (i + group >= end ? tiles::Permute::After : tiles::Permute::None)
                             : (i == k + 1 ? tiles::Permute::Before : tiles::Permute::None);
    tiles::swap_rows<T>(tasks.at(i, j, k), {a(k, j), lower, i * grid.tile, grid.tile, permute, turns}, pivots,
                        priority);
  }
}

// One call per line of the algorithm, on whole tile columns.
template <class T>
class PivotedTasks {
 public:
  PivotedTasks(TaskEmitter& tasks, TiledMatrix<T> const& a, PivotData const& pivots, LuOptions const& options)
      : m_tasks(tasks),
        m_a(a),
        m_pivots(pivots),
        m_options(options),
        m_stack(options.inner_tile != 0 ? 1 : std::max<std::uint64_t>(1, options.stack)),
        m_growth(tasks, a, growth_of(options)) {}

  // P(k) A(k:,k) = L(k:,k) U(k,k), in one task if possible.
  void panel(std::uint64_t k) {
    auto const level = priority(k, k);
    measure_matrix(k, k);
    if (m_a.grid().tile_rows() - k <= m_options.leaf_tiles) {
      auto const part = m_a.stack(k, k, m_options.leaf_tiles);
      auto const rows = rows_below(k, part.size());
      OwnedData workspace(m_tasks.submitter());
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
    exchange_rows(m_tasks, m_a, k, j, m_pivots.panels[k], SwapDirection::Forward,
                  std::min(m_options.leaf_tiles, most_exchanged), j < k ? 0 : priority(j, k), turns_of(k, j));
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
    OwnedData round(m_tasks.submitter());
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
      OwnedData next(m_tasks.submitter());
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
    OwnedData workspace(m_tasks.submitter());
    emit(workspace.add(temporary(name, rows * m_a.grid().cols_in(k) * sizeof(T))));
  }
  static DataDescription temporary(char const* name, Bytes bytes) {
    return {.name = name, .bytes = bytes, .origin = {}, .home = {}};
  }
  // Rows of `count` tiles of a tile column, from tile row i on.
  [[nodiscard]] std::uint64_t rows_below(std::uint64_t i, std::uint64_t count) const {
    return std::min(count * m_a.grid().tile, m_a.grid().rows - m_a.grid().first(i));
  }
  void measure_matrix(std::uint64_t j, std::uint64_t step) {
    for (std::uint64_t i = 0; i < m_a.grid().tile_rows(); ++i) m_growth.before(i, j, step, priority(j, step));
  }
  [[nodiscard]] std::int64_t priority(std::uint64_t column, std::uint64_t step) const {
    return m_options.priorities ? pivoted_lu_priority(m_a.grid(), column, step) : 0;
  }

  // The accesses that order the exchange of panel k in column j.
  std::vector<Access> turns_of(std::uint64_t k, std::uint64_t j) const {
    auto const before = std::min(m_first_column, m_a.grid().diagonal());
    if (j < k || k > 0 || before < 2) return {};
    return {{m_pivots.panels[before - 1], AccessMode::Read}};
  }

  TaskEmitter& m_tasks;
  TiledMatrix<T> const& m_a;
  PivotData const& m_pivots;
  LuOptions const& m_options;
  std::uint64_t m_stack;
  GrowthTasks<T> m_growth;
  std::uint64_t m_first_column = 0;  // of the present block
};

}  // namespace

LuOptions fit_panels(LuOptions options, TileGrid const& grid, Bytes element, Bytes memory) {
  constexpr Bytes most_alignment = 4096;  // of data in memories
  options.host_panels = true;
  Bytes const column = grid.tile_rows() * round_up(grid.largest_tile() * element, most_alignment);
  Bytes const workspace = round_up(tiles::panel_workspace(grid.rows, grid.tile, element, true), most_alignment);
  if (column + workspace > memory / 4 * 3) return options;
  options.leaf_tiles = grid.tile_rows();
  if (grid.rows * grid.cols * element > memory) {
    options.order = FactorOrder::LeftLooking;
    options.columns = std::max<std::uint64_t>(1, memory / 2 / column);
  }
  return options;
}

template <class T>
void getrf_nopiv(TaskEmitter& tasks, TiledMatrix<T> const& a, LuOptions const& options) {
  detail::require_part("getrf_nopiv", {"A", a}, MatrixPart::All);
  require_growth("getrf_nopiv", a.grid(), options.growth);
  InnerTileScope const scope(tasks, options.inner_tile);
  NopivTasks<T> emit(tasks, a, options);
  if (options.order == FactorOrder::RightLooking) {
    right_looking(emit, a.grid());
  } else {
    left_looking(emit, a.grid());
  }
}

template <class T>
void getrf(TaskEmitter& tasks, TiledMatrix<T> const& a, PivotData const& pivots, LuOptions const& options) {
  auto const& grid = a.grid();
  detail::require_part("getrf", {"A", a}, MatrixPart::All);
  require_pivots("getrf", grid, pivots);
  require_growth("getrf", grid, options.growth);
  if (options.leaf_tiles < 1) throw InvalidArgument("getrf needs at least 1 tile in a leaf of its tournament, not 0");
  if (options.columns < 1) throw InvalidArgument("getrf needs at least 1 tile column in a block of columns, not 0");
  InnerTileScope const scope(tasks, options.inner_tile);
  PivotedTasks<T> emit(tasks, a, pivots, options);
  auto const panels = grid.diagonal(), cols = grid.tile_cols();
  if (options.order == FactorOrder::RightLooking) {
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

template <class T>
void laswp(TaskEmitter& tasks, TiledMatrix<T> const& b, PivotData const& pivots, TileGrid const& factored,
           SwapDirection direction) {
  detail::require_part("laswp", {"B", b}, MatrixPart::All);
  require_pivots("laswp", factored, pivots);
  if (b.grid().rows != factored.rows || b.grid().tile != factored.tile) {
    throw InvalidArgument("laswp cannot apply to a matrix of " + extents(b.grid()) + " with tiles of " +
                          std::to_string(b.grid().tile) + " the pivots of a matrix of " + extents(factored) +
                          " with tiles of " + std::to_string(factored.tile));
  }
  auto const panels = factored.diagonal();
  for (std::uint64_t j = 0; j < b.grid().tile_cols(); ++j) {
    for (std::uint64_t step = 0; step < panels; ++step) {
      auto const k = direction == SwapDirection::Forward ? step : panels - 1 - step;
      exchange_rows(tasks, b, k, j, pivots.panels[k], direction, LuOptions{}.leaf_tiles, 0);
    }
  }
}

template <class T>
void getrs(TaskEmitter& tasks, Op op, TiledMatrix<T> const& lu, PivotData const* pivots, TiledMatrix<T> const& b) {
  auto const& grid = lu.grid();
  detail::require_part("getrs", {"A", lu}, MatrixPart::All);
  if (grid.rows != grid.cols || b.grid().rows != grid.rows || b.grid().tile != grid.tile) {
    throw InvalidArgument("getrs cannot solve with a matrix of " + extents(grid) + " in tiles of " +
                          std::to_string(grid.tile) + " for a right-hand side of " + extents(b.grid()) +
                          " in tiles of " + std::to_string(b.grid().tile));
  }
  if (op == Op::NoTrans) {
    if (pivots) laswp(tasks, b, *pivots, grid, SwapDirection::Forward);
    trsm(tasks, Side::Left, Uplo::Lower, op, Diag::Unit, T(1), lu, b);
    trsm(tasks, Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), lu, b);
  } else {
    trsm(tasks, Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), lu, b);
    trsm(tasks, Side::Left, Uplo::Lower, op, Diag::Unit, T(1), lu, b);
    if (pivots) laswp(tasks, b, *pivots, grid, SwapDirection::Backward);
  }
}

#define GRANARY_INSTANTIATE(T)                                                                                \
  template void getrf_nopiv(TaskEmitter&, TiledMatrix<T> const&, LuOptions const&);                           \
  template void getrf(TaskEmitter&, TiledMatrix<T> const&, PivotData const&, LuOptions const&);               \
  template void laswp(TaskEmitter&, TiledMatrix<T> const&, PivotData const&, TileGrid const&, SwapDirection); \
  template void getrs(TaskEmitter&, Op, TiledMatrix<T> const&, PivotData const*, TiledMatrix<T> const&);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace granary
