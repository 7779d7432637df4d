// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/kernels/panel_kernels.hpp>
#include <granary/detail/linalg/tiles/lu.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>

#include <array>
#include <utility>

namespace granary::tiles {
namespace {

using detail::copy_rows;
using detail::DeviceLane;
using detail::on_lane;
using detail::PanelExchanges;
using detail::parameters_of;
using detail::rows_of;
using detail::tile_codelet;
using detail::TileStack;

// A datum of winners: their rows in the matrix, and their original values, column-major.
template <class T>
struct Winners {
  std::int64_t* numbers;
  detail::TileView<T> values;

  static Bytes head_bytes(std::uint64_t rows) {
    constexpr Bytes alignment = 64;
    return round_up(rows * sizeof(std::int64_t), alignment);
  }
  static Winners at(std::byte* bytes, std::int32_t rows, std::int32_t cols) {
    auto* const values = bytes + head_bytes(static_cast<std::uint64_t>(rows));
    return {reinterpret_cast<std::int64_t*>(bytes), {reinterpret_cast<T*>(values), rows, cols, rows}};
  }
};

// The competing rows of a round: parts of a panel, and for each row its part, its place there and its number in the
// matrix.
template <class T>
struct Competitors {
  struct Row {
    std::size_t part;
    int place;
    std::int64_t number;
  };
  std::vector<detail::TileView<T>> parts;
  std::vector<Row> rows;

  // The rows of `values`; number_of(place) is a row's number in the matrix.
  template <class NumberOf>
  void add(detail::TileView<T> const& values, NumberOf&& number_of) {
    for (int s = 0; s < values.rows; ++s) rows.push_back({parts.size(), s, number_of(s)});
    parts.push_back(values);
  }
  // The rows that partial pivoting moves to the top, in order; `workspace` has room for all rows.
  [[nodiscard]] std::vector<Row> best(std::byte* workspace) const {
    auto const m = to_int32(rows.size(), "a number of rows");
    detail::TileView<T> const all{reinterpret_cast<T*>(workspace), m, parts.front().cols, m};
    int above = 0;
    for (auto const& part : parts) {
      copy_rows(part, rows_of(all, above, part.rows));
      above += part.rows;
    }
    auto order = rows;
    auto const pivots = kernels::getrf_panel<T>(std::array{all}, nullptr, all.cols).pivots;
    for (std::size_t s = 0; s < pivots.size(); ++s) std::swap(order[s], order[static_cast<std::size_t>(pivots[s])]);
    order.resize(pivots.size());
    return order;
  }
  // Writes them to a datum of winners.
  void write(std::vector<Row> const& winners, std::byte* bytes) const {
    auto const out = Winners<T>::at(bytes, to_int32(winners.size(), "a number of rows"), parts.front().cols);
    for (int s = 0; auto const& row : winners) {
      out.numbers[s] = row.number;
      copy_rows(rows_of(parts[row.part], row.place, 1), rows_of(out.values, s++, 1));
    }
  }
};

template <class T>
void run_select_rows(detail::KernelCall const& call) {
  auto const& p = parameters_of<TileStack>(call);
  Competitors<T> competitors;
  for (std::size_t i = 0; i < p.count; ++i) {
    auto const first = static_cast<std::int64_t>(p.first) + static_cast<std::int64_t>(i) * p.tile;
    competitors.add(p.view<T>(call, 0, i), [first](int place) { return first + place; });
  }
  competitors.write(competitors.best(call.data[p.count]), call.data[p.count + 1]);
}

// On a device.
template <class T>
void select(detail::KernelCall const& call, DeviceLane const& lane,
            std::vector<kernels::CompetingRows<T>> const& parts) {
  auto* const workspace = reinterpret_cast<T*>(call.data[parts.size()]);
  int rows = 0;
  for (auto const& part : parts) rows += part.values.rows;
  int const cols = parts.front().values.cols;
  auto const out = Winners<T>::at(call.data[parts.size() + 1], std::min(rows, cols), cols);
  kernels::select_rows<T>(lane, parts, workspace, out.numbers, out.values);
}

template <class T>
void launch_select_rows(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<TileStack>(call);
  std::vector<kernels::CompetingRows<T>> parts;
  auto first = static_cast<std::int64_t>(p.first);
  for (auto const& tile : p.views<T>(call, 0)) {
    parts.push_back({tile, nullptr, first});
    first += tile.rows;
  }
  select(call, lane, parts);
}

struct MatchCall {
  std::size_t count = 0;
  std::int32_t cols = 0;
  std::int32_t last_rows = 0;  // rows of the last candidate; the others have as many as columns
  std::int64_t first = 0;      // the panel's first row
  std::int32_t slots = 0;      // rows of its top tile

  template <class T>
  [[nodiscard]] Winners<T> candidate(detail::KernelCall const& call, std::size_t c) const {
    return Winners<T>::at(call.data[c], c + 1 < count ? cols : last_rows, cols);
  }
};

template <class T>
[[nodiscard]] Competitors<T> candidates_of(detail::KernelCall const& call) {
  auto const& p = parameters_of<MatchCall>(call);
  Competitors<T> competitors;
  for (std::size_t c = 0; c < p.count; ++c) {
    auto const candidate = p.template candidate<T>(call, c);
    competitors.add(candidate.values, [&](int place) { return candidate.numbers[place]; });
  }
  return competitors;
}

template <class T>
[[nodiscard]] std::vector<kernels::CompetingRows<T>> candidates_on_device(detail::KernelCall const& call) {
  auto const& p = parameters_of<MatchCall>(call);
  std::vector<kernels::CompetingRows<T>> parts;
  for (std::size_t c = 0; c < p.count; ++c) {
    auto const candidate = p.template candidate<T>(call, c);
    parts.push_back({candidate.values, candidate.numbers});
  }
  return parts;
}

template <class T>
void launch_merge_rows(detail::KernelCall const& call, DeviceLane const& lane) {
  select(call, lane, candidates_on_device<T>(call));
}

template <class T>
void launch_final_rows(detail::KernelCall const& call, DeviceLane const& lane) {
  auto const& p = parameters_of<MatchCall>(call);
  kernels::final_rows<T>(lane, candidates_on_device<T>(call), reinterpret_cast<T*>(call.data[p.count]),
                         call.data[p.count + 1], p.first, p.slots);
}

template <class T>
void run_merge_rows(detail::KernelCall const& call) {
  auto const& p = parameters_of<MatchCall>(call);
  auto const competitors = candidates_of<T>(call);
  competitors.write(competitors.best(call.data[p.count]), call.data[p.count + 1]);
}

template <class T>
void run_final_rows(detail::KernelCall const& call) {
  auto const& p = parameters_of<MatchCall>(call);
  std::vector<std::int64_t> order;
  for (auto const& row : candidates_of<T>(call).best(call.data[p.count])) order.push_back(row.number);
  auto const exchanges = PanelExchanges::at(call.data[p.count + 1], static_cast<std::uint64_t>(p.slots));
  exchanges.zero_pivot = 0;
  exchanges.set_order(p.first, order);
  exchanges.derive(p.first, p.slots, static_cast<std::int64_t>(order.size()));
}

template <class T>
detail::Codelet const select_rows_codelet = tile_codelet<T>("select_rows", run_select_rows<T>,
                                                            on_lane<launch_select_rows<T>>);
template <class T>
detail::Codelet const merge_rows_codelet = tile_codelet<T>("merge_rows", run_merge_rows<T>,
                                                           on_lane<launch_merge_rows<T>>);
template <class T>
detail::Codelet const final_rows_codelet = tile_codelet<T>("final_rows", run_final_rows<T>,
                                                           on_lane<launch_final_rows<T>>);

template <class T>
void emit_match(TaskEmitter& tasks, detail::Codelet const& codelet, Match const& match, MatchCall call,
                DataId workspace, DataId result, std::int64_t priority) {
  call.count = match.candidates.size();
  call.cols = to_int32(match.cols, "a number of columns");
  call.last_rows = to_int32(match.last_rows, "a number of rows");
  std::vector<detail::Access> accesses;
  for (auto const candidate : match.candidates) accesses.push_back({candidate, detail::AccessMode::Read});
  accesses.push_back({workspace, detail::AccessMode::Write});
  accesses.push_back({result, detail::AccessMode::Write});
  tasks.emit(codelet, accesses, priority, detail::lu_flops<T>(static_cast<double>(match.rows()), call.cols), call);
}

}  // namespace

template <class T>
void select_rows(TaskEmitter& tasks, PanelPart const& part, DataId workspace, DataId winners, std::int64_t priority) {
  TileStack const stack(part.tiles, part.first, part.tile);
  auto accesses = detail::accesses_to<detail::AccessMode::Read>(part.tiles);
  accesses.push_back({workspace, detail::AccessMode::Write});
  accesses.push_back({winners, detail::AccessMode::Write});
  tasks.emit(select_rows_codelet<T>, accesses, priority, detail::lu_flops<T>(stack.rows, stack.shape.cols), stack);
}

template <class T>
void merge_rows(TaskEmitter& tasks, Match const& match, DataId workspace, DataId winners, std::int64_t priority) {
  emit_match<T>(tasks, merge_rows_codelet<T>, match, {}, workspace, winners, priority);
}

template <class T>
void final_rows(TaskEmitter& tasks, Match const& match, detail::TileRef const& top, std::uint64_t first,
                DataId workspace, DataId pivots, std::int64_t priority) {
  MatchCall call;
  call.first = static_cast<std::int64_t>(first);
  call.slots = top.rows;
  emit_match<T>(tasks, final_rows_codelet<T>, match, call, workspace, pivots, priority);
}

template <class T>
Bytes winners_bytes(std::uint64_t rows, std::uint64_t cols) {
  return Winners<T>::head_bytes(rows) + rows * cols * sizeof(T);
}

#define GRANARY_INSTANTIATE(T)                                                                                   \
  template void select_rows<T>(TaskEmitter&, PanelPart const&, DataId, DataId, std::int64_t);                    \
  template void merge_rows<T>(TaskEmitter&, Match const&, DataId, DataId, std::int64_t);                         \
  template void final_rows<T>(TaskEmitter&, Match const&, detail::TileRef const&, std::uint64_t, DataId, DataId, \
                              std::int64_t);                                                                     \
  template Bytes winners_bytes<T>(std::uint64_t, std::uint64_t);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
