// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/linalg/tiles/panel_call.hpp>

#include <cstdint>

namespace granary::detail {

/// The task that factors a panel: accesses to its tiles, a workspace and the panel's datum.
struct PanelCall : TileStack {
  std::int32_t block = 0;  ///< columns of a block

  PanelCall(TileStack const& stack, std::int32_t columns) : TileStack(stack), block(columns) {}
};

/// Stores the pivots of a panel, LAPACK's but from 0, and the first zero pivot, from 1, in its datum.
void store_pivots(std::byte* datum, std::span<int const> pivots, int zero, TileStack const& panel);

/// The panel as a finer graph, so that idle cores share it: blocks of columns are factored one after the other, and
/// each updates all blocks on its right, at once.
template <class T>
void expand_panel(void const* parameters, InnerGraph& graph);

}  // namespace granary::detail
