// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/kernels/lu_kernels.hpp>
#include <granary/detail/linalg/kernels/panel_kernels.hpp>
#include <granary/detail/linalg/tiles/expand.hpp>
#include <granary/detail/linalg/tiles/lu.hpp>
#include <granary/detail/linalg/tiles/panel_blocks.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace granary::tiles {
namespace {

using detail::DeviceLane;
using detail::flops_of;
using detail::input_tile;
using detail::leading_of;
using detail::on_lane;
using detail::output_tile;
using detail::PanelCall;
using detail::PanelExchanges;
using detail::parameters_of;
using detail::read;
using detail::read_write;
using detail::tile_codelet;
using detail::TileStack;

struct GetrfCall {
  detail::TileShape a;
  std::uint64_t first = 0;
};

template <class T>
struct NopivCall {
  detail::TileShape a;
  std::uint64_t first = 0;
  double tiny = 0;
  std::int32_t inner = 0;  // see TaskEmitter::inner_tile
  TiledGetrf<T> tiled = nullptr;
};

// The panel's datum, from the access with that number; `top` is its top tile.
template <class Tile>
[[nodiscard]] PanelExchanges panel_of(detail::KernelCall const& call, std::size_t access, Tile const& top) {
  return PanelExchanges::at(call.data[access], static_cast<std::uint64_t>(top.rows));
}

template <class T>
void run_getrf_nopiv(detail::KernelCall const& call) {
  auto const& p = parameters_of<NopivCall<T>>(call);
  auto const a = output_tile<T>(call, 0, p.a);
  double const limit =
      p.tiny > 0 ? p.tiny * static_cast<double>(kernels::max_modulus<T>({}, detail::TileView<T const>(a))) : 0;
  int const bad = kernels::getrf_nopiv<T>(kernels::BadPivot::Stop, static_cast<detail::RealOf<T>>(limit), a);
  if (bad > 0) {
    throw Singular(p.first + static_cast<std::uint64_t>(bad),
                   static_cast<double>(detail::modulus(a(bad - 1, bad - 1))));
  }
}

template <class T>
void launch_getrf_nopiv(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<NopivCall<T>>(call);
  kernels::getrf_nopiv(lane, p.tiny, output_tile<T>(call, 0, p.a));
}

template <class T>
void check_getrf_nopiv(void const* parameters, detail::KernelReport const& report) {
  auto const& p = *static_cast<NopivCall<T> const*>(parameters);
  if (report.info > 0) throw Singular(p.first + static_cast<std::uint64_t>(report.info), report.value);
}

template <class T>
void expand_getrf_nopiv(void const* parameters, detail::InnerGraph& graph) {
  auto const& p = *static_cast<NopivCall<T> const*>(parameters);
  if (!detail::splits(p.a, p.inner)) return;
  TaskEmitter tasks(graph);
  p.tiled(tasks, detail::sub_tiles<T>(graph, 0, p.a, p.inner), p.tiny, p.first);
}

template <class T>
void run_getrf_ordered(detail::KernelCall const& call) {
  auto const& p = parameters_of<GetrfCall>(call);
  int const zero = kernels::getrf_bounded<T>(output_tile<T>(call, 0, p.a), reinterpret_cast<T*>(call.data[1]));
  panel_of(call, 2, p.a).zero_pivot = zero > 0 ? static_cast<std::int64_t>(p.first) + zero : 0;
}

template <class T>
void launch_getrf_ordered(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<GetrfCall>(call);
  kernels::getrf_bounded(lane, output_tile<T>(call, 0, p.a), reinterpret_cast<T*>(call.data[1]),
                         static_cast<std::int64_t>(p.first), &panel_of(call, 2, p.a).zero_pivot);
}

struct TrsmCall {
  detail::TileShape a, b;
};

template <class T, class... Lane>
void run_trsm_ru_ordered(detail::KernelCall const& call, Lane const&... lane) {
  auto const& p = parameters_of<TrsmCall>(call);
  kernels::trsm_ru_skip<T>(lane..., input_tile<T>(call, 0, p.a), output_tile<T>(call, 1, p.b));
}

template <class T>
void run_getrf_panel(detail::KernelCall const& call) {
  auto const& p = parameters_of<PanelCall>(call);
  auto const result = kernels::getrf_panel<T>(p.views<T>(call, 0), reinterpret_cast<T*>(call.data[p.count]), p.block);
  detail::store_pivots(call.data[p.count + 1], result.pivots, result.zero, p);
}

template <class T>
void launch_getrf_panel(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<PanelCall>(call);
  auto const tiles = p.views<T>(call, 0);
  auto all = kernels::as_one<T>(tiles);
  bool const in_place = all.data != nullptr && all.layout == detail::TileLayout::ColumnMajor;
  if (!in_place) all = {reinterpret_cast<T*>(call.data[p.count]), p.rows, p.shape.cols, p.rows};
  kernels::factor_panel<T>(lane, tiles, all, in_place, call.data[p.count + 1], p.shape.rows,
                           static_cast<std::int64_t>(p.first));
}

// Columns of a block of a panel; idle cores share its blocks.
std::int32_t columns_of_block(std::int32_t cols) { return std::max(128, cols / 4); }

struct SwapCall {
  detail::TileShape top;
  TileStack lower;
  Permute permute = Permute::None;
};

// Moves to each slot the row of its source, cycle by cycle, or back.
[[nodiscard]] std::vector<std::pair<int, int>> cycles(std::span<std::int64_t const> sources, bool back) {
  std::vector<std::pair<int, int>> pairs;
  std::vector<bool> done(sources.size());
  for (std::size_t start = 0; start < sources.size(); ++start) {
    for (auto slot = start; !done[slot]; slot = static_cast<std::size_t>(sources[slot])) {
      done[slot] = true;
      if (!done[static_cast<std::size_t>(sources[slot])]) {
        pairs.emplace_back(to_int32(slot, "a row"), to_int32(sources[slot], "a row"));
      }
    }
  }
  if (back) std::ranges::reverse(pairs);
  return pairs;
}

// The exchanges of a panel between its top tile and lower ones, whose first row has the number `first_lower`.
template <class T>
void exchange(PanelExchanges const& exchanges, detail::TileView<T> const& top,
              std::span<detail::TileView<T> const> lower, std::int64_t first_lower, std::int32_t tile,
              Permute permute) {
  std::vector<kernels::RowSwaps<T>> swaps;
  if (permute == Permute::Before) swaps.push_back({cycles(exchanges.sources, true), top});
  auto const begin = swaps.size();
  std::int64_t rows = 0;
  for (auto const& one : lower) {
    swaps.push_back({{}, one});
    rows += one.rows;
  }
  for (int slot = 0; slot < top.rows; ++slot) {
    auto const row = exchanges.partners[static_cast<std::size_t>(slot)] - first_lower;
    if (row < 0 || row >= rows) continue;
    swaps[begin + static_cast<std::size_t>(row / tile)].pairs.emplace_back(slot, to_int32(row % tile, "a row"));
  }
  // The lower tile's column streams through the cache.
  for (auto i = begin; i < swaps.size(); ++i) std::ranges::sort(swaps[i].pairs, {}, &std::pair<int, int>::second);
  if (permute == Permute::After) swaps.push_back({cycles(exchanges.sources, false), top});
  kernels::swap_rows<T>(top, swaps);
}

template <class T>
void run_swap_rows(detail::KernelCall const& call) {
  auto const& p = parameters_of<SwapCall>(call);
  exchange<T>(panel_of(call, 0, p.top), output_tile<T>(call, 1, p.top), p.lower.views<T>(call, 2),
              static_cast<std::int64_t>(p.lower.first), p.lower.tile, p.permute);
}

// The exchanges of several panels, one after the other, in a column: first the panels' data, then the column's tiles,
// from the top tile of the first panel on.
struct SwapAllCall {
  TileStack column;
  std::size_t panels = 0;
};

template <class T>
void run_swap_all_rows(detail::KernelCall const& call) {
  auto const& p = parameters_of<SwapAllCall>(call);
  auto const tiles = p.column.views<T>(call, p.panels);
  for (std::size_t k = 0; k < p.panels; ++k) {
    auto const first_lower = p.column.first + (k + 1) * static_cast<std::uint64_t>(p.column.tile);
    exchange<T>(panel_of(call, k, tiles[k]), tiles[k], std::span(tiles).subspan(k + 1),
                static_cast<std::int64_t>(first_lower), p.column.tile, Permute::After);
  }
}

template <class T>
void launch_swap_all_rows(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<SwapAllCall>(call);
  auto const tiles = p.column.views<T>(call, p.panels);
  for (std::size_t k = 0; k < p.panels; ++k) {
    auto const first_lower = p.column.first + (k + 1) * static_cast<std::uint64_t>(p.column.tile);
    kernels::swap_rows<T>(lane, call.data[k], tiles[k],
                          {tiles.begin() + static_cast<std::ptrdiff_t>(k) + 1, tiles.end()},
                          static_cast<std::int64_t>(first_lower), false, true);
  }
}

template <class T>
void launch_swap_rows(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<SwapCall>(call);
  kernels::swap_rows<T>(lane, call.data[0], output_tile<T>(call, 1, p.top), p.lower.views<T>(call, 2),
                        static_cast<std::int64_t>(p.lower.first), p.permute == Permute::Before,
                        p.permute == Permute::After);
}

struct MaxCall {
  detail::TileShape a;
  MatrixPart part = MatrixPart::All;
};

template <class T>
void run_max_modulus(detail::KernelCall const& call) {
  auto const& p = parameters_of<MaxCall>(call);
  *reinterpret_cast<double*>(call.data[1]) = kernels::max_modulus<T>({.part = p.part}, input_tile<T>(call, 0, p.a));
}

template <class T>
void launch_max_modulus(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<MaxCall>(call);
  kernels::max_modulus(lane, p.part, input_tile<T>(call, 0, p.a), reinterpret_cast<double*>(call.data[1]));
}

template <class T>
detail::Codelet const getrf_codelet = detail::expandable_codelet<T>("getrf", run_getrf_nopiv<T>, expand_getrf_nopiv<T>,
                                                                    on_lane<launch_getrf_nopiv<T>>,
                                                                    check_getrf_nopiv<T>);
template <class T>
detail::Codelet const getrf_ordered_codelet = tile_codelet<T>("getrf", run_getrf_ordered<T>,
                                                              on_lane<launch_getrf_ordered<T>>);
template <class T>
detail::Codelet const trsm_ru_ordered_codelet = tile_codelet<T>("trsm_ru", run_trsm_ru_ordered<T>,
                                                                on_lane<run_trsm_ru_ordered<T, DeviceLane>>);
template <class T>
detail::Codelet const getrf_panel_codelet = detail::expandable_codelet<T>("getrf_panel", run_getrf_panel<T>,
                                                                          detail::expand_panel<T>,
                                                                          on_lane<launch_getrf_panel<T>>);
template <class T>
detail::Codelet const getrf_panel_on_host_codelet = detail::expandable_codelet<T>("getrf_panel", run_getrf_panel<T>,
                                                                                  detail::expand_panel<T>, nullptr);
template <class T>
detail::Codelet const swap_rows_codelet = tile_codelet<T>("swap_rows", run_swap_rows<T>, on_lane<launch_swap_rows<T>>);
template <class T>
detail::Codelet const swap_all_rows_codelet = tile_codelet<T>("swap_all_rows", run_swap_all_rows<T>,
                                                              on_lane<launch_swap_all_rows<T>>);
template <class T>
detail::Codelet const max_modulus_codelet = tile_codelet<T>("max_modulus", run_max_modulus<T>,
                                                            on_lane<launch_max_modulus<T>>);

}  // namespace

template <class T>
void getrf_nopiv(TaskEmitter& tasks, detail::TileRef const& a, std::uint64_t first, double tiny, TiledGetrf<T> tiled,
                 std::int64_t priority) {
  tasks.emit(getrf_codelet<T>, {read_write(a)}, priority, detail::lu_flops<T>(a.rows, a.cols),
             NopivCall<T>{a.shape(), first, tiny, tasks.inner_tile(), tiled});
}

template <class T>
void getrf_ordered(TaskEmitter& tasks, detail::TileRef const& a, DataId workspace, DataId pivots, std::uint64_t first,
                   std::int64_t priority) {
  tasks.emit(getrf_ordered_codelet<T>,
             {read_write(a), {workspace, detail::AccessMode::Write}, {pivots, detail::AccessMode::ReadWrite}}, priority,
             detail::lu_flops<T>(a.rows, a.cols), GetrfCall{a.shape(), first});
}

template <class T>
void trsm_ru_ordered(TaskEmitter& tasks, detail::TileRef const& a, detail::TileRef const& b, std::int64_t priority) {
  double const fmas = 0.5 * b.rows * b.cols * a.rows;
  tasks.emit(trsm_ru_ordered_codelet<T>, {read(a), read_write(b)}, priority, flops_of<T>(fmas),
             TrsmCall{a.shape(), b.shape()});
}

template <class T>
void getrf_panel(TaskEmitter& tasks, PanelPart const& panel, bool on_host, DataId workspace, DataId pivots,
                 std::int64_t priority) {
  TileStack const stack(panel.tiles, panel.first, panel.tile);
  auto accesses = detail::accesses_to<detail::AccessMode::ReadWrite>(panel.tiles);
  accesses.push_back({workspace, detail::AccessMode::Write});
  accesses.push_back({pivots, detail::AccessMode::Write});
  tasks.emit(on_host ? getrf_panel_on_host_codelet<T> : getrf_panel_codelet<T>, accesses, priority,
             detail::lu_flops<T>(stack.rows, stack.shape.cols), PanelCall(stack, columns_of_block(stack.shape.cols)));
}

Bytes panel_workspace(std::uint64_t rows, std::uint64_t cols, Bytes element, bool on_host) {
  return rows * (on_host ? std::min<std::uint64_t>(cols, kernels::panel_block) : cols) * element;
}

template <class T>
void swap_rows(TaskEmitter& tasks, RowExchange const& exchange, DataId pivots, std::int64_t priority) {
  std::vector<detail::Access> accesses{{pivots, detail::AccessMode::Read}, read_write(exchange.top)};
  for (auto const& tile : exchange.lower) accesses.push_back(read_write(tile));
  accesses.insert(accesses.end(), exchange.turns.begin(), exchange.turns.end());
  SwapCall const call{exchange.top.shape(), TileStack(exchange.lower, exchange.first_lower, exchange.tile),
                      exchange.permute};
  tasks.emit(swap_rows_codelet<T>, accesses, priority, 0, call);
}

template <class T>
void swap_all_rows(TaskEmitter& tasks, PanelPart const& column, std::span<DataId const> pivots, std::int64_t priority) {
  std::vector<detail::Access> accesses;
  for (DataId const panel : pivots) accesses.push_back({panel, detail::AccessMode::Read});
  for (auto const& tile : column.tiles) accesses.push_back(read_write(tile));
  tasks.emit(swap_all_rows_codelet<T>, accesses, priority, 0,
             SwapAllCall{TileStack(column.tiles, column.first, column.tile), pivots.size()});
}

template <class T>
void max_modulus(TaskEmitter& tasks, detail::TileRef const& a, MatrixPart part, DataId largest, std::int64_t priority,
                 std::span<detail::Access const> turns) {
  std::vector<detail::Access> accesses{read(a), {largest, detail::AccessMode::Write}};
  accesses.insert(accesses.end(), turns.begin(), turns.end());
  tasks.emit(max_modulus_codelet<T>, accesses, priority, 0, MaxCall{a.shape(), part});
}

#define GRANARY_INSTANTIATE(T)                                                                                       \
  template void getrf_nopiv<T>(TaskEmitter&, detail::TileRef const&, std::uint64_t, double, TiledGetrf<T>,           \
                               std::int64_t);                                                                        \
  template void getrf_ordered<T>(TaskEmitter&, detail::TileRef const&, DataId, DataId, std::uint64_t, std::int64_t); \
  template void trsm_ru_ordered<T>(TaskEmitter&, detail::TileRef const&, detail::TileRef const&, std::int64_t);      \
  template void getrf_panel<T>(TaskEmitter&, PanelPart const&, bool, DataId, DataId, std::int64_t);                  \
  template void swap_rows<T>(TaskEmitter&, RowExchange const&, DataId, std::int64_t);                                \
  template void swap_all_rows<T>(TaskEmitter&, PanelPart const&, std::span<DataId const>, std::int64_t);             \
  template void max_modulus<T>(TaskEmitter&, detail::TileRef const&, MatrixPart, DataId, std::int64_t,               \
                               std::span<detail::Access const>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
