// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/device/device_kernels.hpp>
#include <granary/detail/linalg/kernels/device/lane_lu.hpp>

#include <cstdint>
#include <span>

/// Panels with partial pivoting, tournaments and row exchanges on a LaneBlas; `words` are the words of a panel's datum,
/// see pivots.hpp.
namespace granary::kernels::lane_lu {

using portable::ExchangeWords;
using portable::RowMap;

/// Pivots and info of LAPACK, in a lane's scratch memory.
struct PanelPivots {
  int* pivots;
  int* info;
};

template <class Blas, class T>
[[nodiscard]] PanelPivots factor_with_pivots(Blas const& blas, LaneScratch& scratch, Block<T> all) {
  auto const order = static_cast<std::size_t>(std::min(all.rows, all.cols));
  PanelPivots const result{scratch.take<int>(order), scratch.take<int>(1)};
  blas.template getrf<T>(all, result.pivots, result.info, scratch.rest());
  return result;
}

/// See PanelExchanges::derive: partners and sources from the first `count` pivots.
template <class Space>
void derive(Space const& space, LaneScratch scratch, ExchangeWords const& words, std::int64_t first, int slots,
            int count) {
  int const places = RowMap::slots_for(2 * count);
  RowMap const has{scratch.take<RowMap::Entry>(static_cast<std::size_t>(places)), places};
  portable::for_each("granary::exchanges::clear", space, places, portable::ClearMap{has});
  portable::for_each("granary::exchanges::none", space, slots, portable::ClearPartners{words});
  portable::for_each("granary::exchanges::follow", space, 1, portable::FollowPivots{words, has, first, count});
  portable::for_each("granary::exchanges::slots", space, slots, portable::DeriveSlots{words, has, first, slots});
  portable::for_each("granary::exchanges::partners", space, count, portable::DerivePartners{words, has, first, slots});
}

/// Factors a column of tiles: in place if `all` is their memory, otherwise gathered there. `first` is their first row
/// in the matrix, `slots` the number of rows of the top tile.
template <class Blas, class T>
void factor_panel(Blas const& blas, std::span<detail::TileView<T> const> tiles, Block<T> all, bool in_place,
                  std::byte* words_of_panel, int slots, std::int64_t first) {
  auto const each = [&](auto&& function) {
    int above = 0;
    for (auto const& one : tiles) {
      if (!in_place) function(strided(one), strided(all.sub(above, 0, one.rows, one.cols)));
      above += one.rows;
    }
  };
  auto const& space = blas.space();
  using Space = typename Blas::space_type;
  LaneScratch scratch(blas.workspace());
  each([&](auto const& part, auto const& rows) { copy<Space, T, T>(space, part, rows); });
  auto const found = factor_with_pivots(blas, scratch, all);
  each([&](auto const& part, auto const& rows) { copy<Space, T, T>(space, rows, part); });
  int const count = std::min(all.rows, all.cols);
  ExchangeWords const words(words_of_panel, slots);
  portable::for_each("granary::getrf_panel::pivots", space, count,
                     portable::PivotsOfLapack{words, found.pivots, found.info, first, all.rows});
  derive(space, scratch, words, first, slots, count);
}

/// Output for winners: their rows, and their values (may be null).
template <class T>
struct WinnersOut {
  std::int64_t* rows = nullptr;
  detail::TileView<T> values;
};

/// The rows that partial pivoting moves to the top, in order; `workspace` has room for all competing rows. Returns
/// their number.
template <class Blas, class T>
int select(Blas const& blas, LaneScratch& scratch, std::span<CompetingRows<T> const> parts, T* workspace,
           WinnersOut<T> const& out) {
  using Space = typename Blas::space_type;
  auto const& space = blas.space();
  int rows = 0;
  for (auto const& part : parts) rows += part.values.rows;
  int const cols = parts.front().values.cols, count = std::min(rows, cols);
  Block<T> const all{workspace, rows, cols, std::max(1, rows)};
  int above = 0;
  for (auto const& part : parts) {
    copy<Space, T, T>(space, strided(part.values), strided(all.sub(above, 0, part.values.rows, cols)));
    above += part.values.rows;
  }
  auto* const order = scratch.take<int>(static_cast<std::size_t>(rows));
  auto* const places = scratch.take<int>(static_cast<std::size_t>(count));
  auto const found = factor_with_pivots(blas, scratch, all);
  portable::for_each("granary::select_rows::order", space, rows, portable::CountUp{order});
  portable::for_each("granary::select_rows::places", space, 1,
                     portable::PlacesOfPivots{found.pivots, rows, count, order, places});
  above = 0;
  for (auto const& part : parts) {
    portable::Strided<T> winners{out.values.data, count, cols, 1, out.values.ld};
    portable::for_each(
        "granary::select_rows::take", space, static_cast<std::int64_t>(count) * cols,
        portable::TakeWinners<T>{strided(part.values), winners, out.rows, places, part.numbers, part.first, above});
    above += part.values.rows;
  }
  return count;
}

/// The last round: its winners become the first rows of the panel, whose top tile has `slots` rows.
template <class Blas, class T>
void final_rows(Blas const& blas, std::span<CompetingRows<T> const> parts, T* workspace, std::byte* words_of_panel,
                std::int64_t first, int slots) {
  auto const& space = blas.space();
  LaneScratch scratch(blas.workspace());
  auto* const order = scratch.take<std::int64_t>(static_cast<std::size_t>(slots));
  int const count = select<Blas, T>(blas, scratch, parts, workspace, {order, {}});
  ExchangeWords const words(words_of_panel, slots);
  {
    auto maps = scratch;
    int const places = RowMap::slots_for(2 * count);
    RowMap const place_of{maps.template take<RowMap::Entry>(static_cast<std::size_t>(places)), places};
    RowMap const row_at{maps.template take<RowMap::Entry>(static_cast<std::size_t>(places)), places};
    portable::for_each("granary::exchanges::clear", space, places, portable::ClearMap{place_of});
    portable::for_each("granary::exchanges::clear", space, places, portable::ClearMap{row_at});
    portable::for_each("granary::final_rows::pivots", space, 1,
                       portable::PivotsOfOrder{words, order, place_of, row_at, first, count});
  }
  derive(space, scratch, words, first, slots, count);
}

/// Permutes the rows of the top tile as in the panel's sources, or inversely; processes as many columns at a time as
/// the lane's workspace holds.
template <class Blas, class T>
void permute(Blas const& blas, ExchangeWords const& words, detail::TileView<T> const& top, bool back) {
  using Space = typename Blas::space_type;
  if (top.rows == 0 || top.cols == 0) return;
  LaneScratch scratch(blas.workspace());
  auto const room = scratch.room<T>() / static_cast<std::size_t>(top.rows);
  int const group = static_cast<int>(std::clamp<std::size_t>(room, 1, static_cast<std::size_t>(top.cols)));
  auto* const memory = scratch.take<T>(static_cast<std::size_t>(group) * static_cast<std::size_t>(top.rows));
  for (int j = 0; j < top.cols; j += group) {
    auto const columns = strided(sub(top, 0, j, top.rows, std::min(group, top.cols - j)));
    portable::Strided<T> old{memory, columns.rows, columns.cols, 1, columns.rows};
    if (top.layout == detail::TileLayout::RowMajor) old = {memory, columns.rows, columns.cols, columns.cols, 1};
    copy<Space, T, T>(blas.space(), columns, old);
    portable::for_each("granary::swap_rows::permute", blas.space(), portable::count_of(columns),
                       portable::PermuteSlots<T>(columns, old, words.sources, back));
  }
}

/// Exchanges rows of the top tile with rows of the lower ones, whose first row is `first_lower`.
template <class Blas, class T>
void exchange(Blas const& blas, ExchangeWords const& words, detail::TileView<T> const& top,
              std::span<detail::TileView<T> const> lower, std::int64_t first_lower) {
  for (auto const& tile : lower) {
    portable::for_each("granary::swap_rows::exchange", blas.space(), count_of(top),
                       portable::ExchangePartners<T>(strided(top), strided(tile), words.partners, first_lower));
    first_lower += tile.rows;
  }
}

}  // namespace granary::kernels::lane_lu
