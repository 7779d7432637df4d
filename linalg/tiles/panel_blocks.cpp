// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/kernels/panel_kernels.hpp>
#include <granary/detail/linalg/tiles/expand.hpp>
#include <granary/detail/linalg/tiles/panel_blocks.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>

#include <algorithm>
#include <cstddef>

namespace granary::detail {
namespace {

// Columns [first, end) of a panel: the accesses of an inner task to them are the parts of all tiles.
struct Columns {
  std::int32_t first = 0;
  std::int32_t end = 0;
};

// While the panel is factored, the place of its exchanges has LAPACK's pivots, from 0, and for each block its first
// zero pivot, from 1. Each block has its own words, so that tasks on several blocks share none.
struct BlockPivots {
  int* pivots;  // of all blocks
  int* zeros;   // one for each column, the first of each block counts

  BlockPivots(std::byte* datum, std::int32_t slots)
      : pivots(reinterpret_cast<int*>(datum)), zeros(reinterpret_cast<int*>(datum) + slots) {}
  static std::size_t offset(std::int32_t column) { return static_cast<std::size_t>(column) * sizeof(int); }
};

// An inner task: its panel, with the tiles of its accesses from `tiles` on, of which each is the part from column
// `part.first` on.
struct BlockCall {
  TileStack panel;
  Columns block;  // that was, or is, factored
  Columns part;
  std::size_t tiles = 0;
};

// The tiles of the panel, from the parts of a task.
template <class T>
std::vector<TileView<T>> whole_tiles(KernelCall const& call, BlockCall const& p) {
  std::vector<TileView<T>> tiles;
  for (std::size_t i = 0; i < p.panel.count; ++i) {
    auto const& shape = i + 1 < p.panel.count ? p.panel.shape : p.panel.last;
    auto* const part = reinterpret_cast<T*>(call.data[p.tiles + i]);
    tiles.push_back({part - shape.offset(0, static_cast<std::uint64_t>(p.part.first)), shape.rows, shape.cols, shape.ld,
                     shape.layout});
  }
  return tiles;
}

// Accesses: pivots of the block, its parts, the workspace.
template <class T>
void run_factor(KernelCall const& call) {
  auto const& p = parameters_of<BlockCall>(call);
  auto* const pivots = reinterpret_cast<int*>(call.data[0]) - p.block.first;
  auto const tiles = whole_tiles<T>(call, p);
  kernels::Panel<T> panel(tiles, reinterpret_cast<T*>(call.data[p.tiles + p.panel.count]), pivots);
  int const zero = panel.factor(p.block.first, p.block.end);
  *reinterpret_cast<int*>(call.data[1]) = zero;
}

// Accesses: pivots of the block, its parts, the parts that are updated.
template <class T>
void run_update(KernelCall const& call) {
  auto const& p = parameters_of<BlockCall>(call);
  auto const tiles = whole_tiles<T>(call, p);
  kernels::Panel<T> panel(tiles, nullptr, reinterpret_cast<int*>(call.data[0]) - p.block.first);
  panel.update(p.block.first, p.block.end, p.part.first, p.part.end);
}

// Accesses: pivots of all blocks from `block` on, the parts whose rows are exchanged.
template <class T>
void run_exchange(KernelCall const& call) {
  auto const& p = parameters_of<BlockCall>(call);
  auto const tiles = whole_tiles<T>(call, p);
  kernels::Panel<T> panel(tiles, nullptr, reinterpret_cast<int*>(call.data[0]) - p.block.first);
  panel.exchange(p.block.first, p.block.end, p.part.first, p.part.end);
}

// Accesses: the pivots and zeros of all blocks.
void run_store(KernelCall const& call) {
  auto const& p = parameters_of<BlockCall>(call);
  BlockPivots const found(call.data[0], p.panel.shape.rows);
  std::vector<int> const pivots(found.pivots, found.pivots + p.panel.shape.cols);
  int zero = 0;
  for (std::int32_t column = 0; column < p.panel.shape.cols && zero == 0; column += p.part.end)
    zero = found.zeros[column];
  store_pivots(call.data[0], pivots, zero, p.panel);
}

template <class T>
Codelet const factor_codelet = tile_codelet<T>("getrf_block", run_factor<T>);
template <class T>
Codelet const update_codelet = tile_codelet<T>("update_block", run_update<T>);
template <class T>
Codelet const exchange_codelet = tile_codelet<T>("swap_rows_block", run_exchange<T>);
template <class T>
Codelet const store_codelet = tile_codelet<T>("store_pivots", run_store);

// Emits the inner tasks of a panel.
template <class T>
class PanelTasks {
 public:
  PanelTasks(InnerGraph& graph, PanelCall const& call)
      : m_graph(graph), m_tasks(graph), m_panel(static_cast<TileStack const&>(call)) {
    for (std::size_t i = 0; i < m_panel.count; ++i) {
      auto& shape = i + 1 < m_panel.count ? m_panel.shape : m_panel.last;
      shape = shape_now<T>(graph, i, shape);
    }
    for (std::int32_t first = 0; first < m_panel.shape.cols; first += call.block) {
      m_blocks.push_back({first, std::min(first + call.block, m_panel.shape.cols)});
    }
  }
  void emit() {
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
      factor(m_blocks[b]);
      for (auto later = b + 1; later < m_blocks.size(); ++later) update(m_blocks[b], m_blocks[later]);
    }
    for (std::size_t b = 0; b + 1 < m_blocks.size(); ++b) exchange(b);
    store();
  }

 private:
  [[nodiscard]] DataId pivots(Columns const& block) {
    return m_graph.part(m_panel.count + 1, BlockPivots::offset(block.first));
  }
  [[nodiscard]] DataId zero(Columns const& block) {
    return m_graph.part(m_panel.count + 1, BlockPivots::offset(m_panel.shape.rows + block.first));
  }
  void add_parts(std::vector<Access>& accesses, Columns const& block, AccessMode mode) {
    for (std::size_t i = 0; i < m_panel.count; ++i) {
      auto const& shape = i + 1 < m_panel.count ? m_panel.shape : m_panel.last;
      accesses.push_back({m_graph.part(i, shape.offset(0, static_cast<std::uint64_t>(block.first)) * sizeof(T)), mode});
    }
  }
  void factor(Columns const& block) {
    std::vector<Access> accesses{{pivots(block), AccessMode::Write}, {zero(block), AccessMode::Write}};
    add_parts(accesses, block, AccessMode::ReadWrite);
    accesses.push_back({m_graph.part(m_panel.count, 0), AccessMode::Write});
    m_tasks.emit(factor_codelet<T>, accesses, urgent, flops(block, block), BlockCall{m_panel, block, block, 2});
  }
  void update(Columns const& block, Columns const& part) {
    std::vector<Access> accesses{{pivots(block), AccessMode::Read}};
    add_parts(accesses, block, AccessMode::Read);
    add_parts(accesses, part, AccessMode::ReadWrite);
    // Later blocks can wait.
    m_tasks.emit(update_codelet<T>, accesses, urgent - part.first, flops(block, part),
                 BlockCall{m_panel, block, part, 1 + m_panel.count});
  }
  // The exchanges of all later blocks in block b.
  void exchange(std::size_t b) {
    std::vector<Access> accesses;
    for (auto later = b + 1; later < m_blocks.size(); ++later) {
      accesses.push_back({pivots(m_blocks[later]), AccessMode::Read});
    }
    auto const count = accesses.size();
    add_parts(accesses, m_blocks[b], AccessMode::ReadWrite);
    m_tasks.emit(exchange_codelet<T>, accesses, 0, 0,
                 BlockCall{m_panel, {m_blocks[b].end, m_panel.shape.cols}, m_blocks[b], count});
  }
  void store() {
    std::vector<Access> accesses;
    for (auto const& block : m_blocks) accesses.push_back({pivots(block), AccessMode::ReadWrite});
    for (auto const& block : m_blocks) accesses.push_back({zero(block), AccessMode::ReadWrite});
    m_tasks.emit(store_codelet<T>, accesses, 0, 0, BlockCall{m_panel, {}, {0, m_blocks.front().end}, 0});
  }
  [[nodiscard]] double flops(Columns const& block, Columns const& part) const {
    auto const width = static_cast<double>(block.end - block.first);
    return flops_of<T>((m_panel.rows - block.first) * width * (part.end - part.first));
  }

  static constexpr std::int64_t urgent = 1'000'000;
  InnerGraph& m_graph;
  TaskEmitter m_tasks;
  TileStack m_panel;  // with the leading dimensions of where its tiles are
  std::vector<Columns> m_blocks;
};

}  // namespace

void store_pivots(std::byte* datum, std::span<int const> pivots, int zero, TileStack const& panel) {
  auto const exchanges = PanelExchanges::at(datum, static_cast<std::uint64_t>(panel.shape.rows));
  auto const first = static_cast<std::int64_t>(panel.first);
  exchanges.zero_pivot = zero > 0 ? first + zero : 0;
  std::ranges::transform(pivots, exchanges.pivots.begin(), [first](int pivot) { return first + pivot; });
  exchanges.derive(first, panel.shape.rows, static_cast<std::int64_t>(pivots.size()));
}

template <class T>
void expand_panel(void const* parameters, InnerGraph& graph) {
  auto const& p = *static_cast<PanelCall const*>(parameters);
  bool const tall = p.shape.rows >= p.shape.cols;
  if (tall && p.shape.cols > p.block) PanelTasks<T>(graph, p).emit();
}

template void expand_panel<float>(void const*, InnerGraph&);
template void expand_panel<double>(void const*, InnerGraph&);
template void expand_panel<Kokkos::complex<float>>(void const*, InnerGraph&);
template void expand_panel<Kokkos::complex<double>>(void const*, InnerGraph&);

}  // namespace granary::detail
