// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/qr.hpp>
#include <granary/detail/linalg/algorithms/tall_qr.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/tiles/qr.hpp>
#include <granary/detail/linalg/tiles/tall_qr.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

namespace granary::detail {
namespace {

// The tile and the column in it, in a row of tiles of several matrices.
std::pair<std::int32_t, std::int32_t> place_of(std::span<TileGrid const> grids, std::uint64_t column) {
  std::int32_t tile = 0;
  for (auto const& grid : grids) {
    if (column < grid.cols) {
      return {tile + to_int32(column / grid.tile, "a tile column"), to_int32(column % grid.tile, "a column")};
    }
    column -= grid.cols;
    tile += to_int32(grid.tile_cols(), "a tile column");
  }
  throw InternalError("a column that does not exist was chosen");
}

}  // namespace

ColumnChoice all_columns(std::uint64_t number) {
  ColumnChoice choice;
  choice.columns.resize(number);
  std::iota(choice.columns.begin(), choice.columns.end(), std::uint64_t{0});
  return choice;
}

std::uint64_t tall_qr_chains(std::uint64_t rows, std::uint64_t cols, Bytes element, Bytes block, Bytes memory) {
  constexpr Bytes page = 4096;  // data take whole ones
  auto const room = memory / 4;
  if (block > memory - room) return 1;
  auto const cheap = std::min<std::uint64_t>(64, rows / (4 * cols));
  return std::max<std::uint64_t>(1, std::min(cheap, room / round_up(cols * cols * element, page)));
}

std::shared_ptr<tiles::RowForm const> form_of(std::span<TileGrid const> grids, ColumnChoice const& choice) {
  auto form = std::make_shared<tiles::RowForm>();
  constexpr auto ones = tiles::ColumnRun::ones;
  std::map<std::int32_t, std::int32_t> numbers;  // of the tiles that are needed
  auto const find = [&](std::uint64_t column) {
    auto const [tile, from] = place_of(grids, column);
    auto const [number, is_new] = numbers.try_emplace(tile, to_int32(form->tiles.size(), "a tile column"));
    if (is_new) form->tiles.push_back(static_cast<std::size_t>(tile));
    return std::pair{number->second, from};
  };
  for (std::size_t to = 0; to < choice.columns.size(); ++to) {
    bool const is_ones = choice.columns[to] == ColumnChoice::ones;
    auto const [tile, from] = is_ones ? std::pair{ones, std::int32_t{0}} : find(choice.columns[to]);
    auto* const last = form->runs.empty() ? nullptr : &form->runs.back();
    if (last != nullptr && last->tile == tile && (is_ones || last->from + last->count == from)) {
      ++last->count;
    } else {
      form->runs.push_back({tile, from, 1, to_int32(to, "a column")});
    }
  }
  if (choice.weights) std::tie(form->weight_tile, form->weight_column) = find(*choice.weights);
  if (form->tiles.empty()) form->tiles.push_back(0);
  return form;
}

template <class T>
TallQr<T>::TallQr(TaskEmitter& tasks, std::shared_ptr<tiles::RowForm const> form, TileRef const& r,
                  std::uint64_t chains)
    : m_tasks(tasks), m_form(std::move(form)), m_triangles(tasks.submitter()), m_chains(chains, r) {
  auto const cols = static_cast<Bytes>(r.cols);
  for (std::uint64_t chain = 1; chain < chains; ++chain) {
    m_chains[chain].data = m_triangles.add({.name = "triangle of a chain", .bytes = cols * cols * sizeof(T)});
    m_chains[chain].ld = r.cols;
  }
}

template <class T>
void TallQr<T>::fold(std::span<TileRef const> row, std::uint64_t first) {
  auto const chain = m_blocks % m_chains.size();
  std::vector<TileRef> needed;
  for (auto const tile : m_form->tiles) needed.push_back(row[tile]);
  tiles::fold_rows<T>(m_tasks.at(m_blocks, 0), needed, m_form, first, m_blocks >= m_chains.size(), m_chains[chain]);
  ++m_blocks;
}

template <class T>
void TallQr<T>::join() {
  auto const chains = std::min<std::uint64_t>(m_chains.size(), m_blocks);
  auto const cols = m_chains.front().cols;
  auto const inner_block = ReflectorData{}.inner_block;
  for (std::uint64_t step = 1; step < chains; step *= 2) {
    for (std::uint64_t chain = 0; chain + step < chains; chain += 2 * step) {
      OwnedData workspace(m_tasks.submitter());
      TileRef t{{inner_block, cols, inner_block, TileLayout::ColumnMajor}, {}};
      t.data =
          workspace.add({.name = "T", .bytes = static_cast<Bytes>(inner_block) * static_cast<Bytes>(cols) * sizeof(T)});
      tiles::stack_qrt<T>(m_tasks.at(chain, 0, step), tiles::Lower::Triangle, m_chains[chain], m_chains[chain + step],
                          t);
    }
  }
  m_triangles.release();
}

template <class T>
void submit_tall_qr(TaskEmitter& tasks, std::span<TiledMatrix<T> const> matrices, TileRef const& r, Bytes memory) {
  std::vector<TileGrid> grids;
  for (auto const& matrix : matrices) grids.push_back(matrix.grid());
  auto const cols = static_cast<std::uint64_t>(r.cols);
  auto const block = grids[0].rows_in(0) * cols * sizeof(T);
  TallQr<T> qr(tasks, form_of(grids, all_columns(cols)), r,
               tall_qr_chains(grids[0].rows, cols, sizeof(T), block, memory));
  for (std::uint64_t i = 0; i < grids[0].tile_rows(); ++i) {
    std::vector<TileRef> row;
    for (auto const& matrix : matrices) {
      for (std::uint64_t j = 0; j < matrix.grid().tile_cols(); ++j) row.push_back(matrix(i, j));
    }
    qr.fold(row, grids[0].first(i));
  }
  qr.join();
}

#define GRANARY_INSTANTIATE(T) \
  template class TallQr<T>;    \
  template void submit_tall_qr<T>(TaskEmitter&, std::span<TiledMatrix<T> const>, TileRef const&, Bytes);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::detail
