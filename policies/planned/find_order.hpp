// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/order_graph.hpp>
#include <granary/detail/policies/planned/replay.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

struct GRANARY_EXPORT FoundOrder {
  std::vector<std::uint32_t> tasks;
  /// For each position of `tasks`: the number of its block, from 0; blocks are in order.
  std::vector<std::uint32_t> blocks;
  Traffic traffic;         ///< of the order in the memory, by `replay`
  bool has_plane = false;  ///< most tasks have rows and columns, as in a matrix
};

struct GRANARY_EXPORT OrderProblem {
  Bytes memory = 0;
  /// So many equal memories share the tasks, block by block.
  std::size_t memories = 1;
  /// With several memories: the least number of rows and columns of a block of a matrix, if half a memory holds it.
  double least_side = 1;
  /// Steps of the search for each use of a datum: it tries further orders while it has taken fewer.
  std::uint64_t effort = 1500;
};

/// An order of the tasks that moves few bytes between a memory and what is behind it. Our own algorithm: where the
/// graph has the form of a matrix it cuts bands (see `cut_bands`), elsewhere it lists tasks by what they lack (see
/// `order_by_missing`) and grows blocks (see `grow_blocks`); it replays each of these orders and the order of
/// submission, and keeps the one that moves the fewest bytes.
///
/// If several memories share the tasks, blocks are so small that each memory gets several, and has room to load the
/// next one early: of a matrix, squares (see `shared_squares`), otherwise what grows to the best order in one memory.
///
/// Takes about 2 µs for each use of a datum, and about 200 bytes. The result depends on the graph and the problem only.
[[nodiscard]] GRANARY_EXPORT FoundOrder find_order(OrderGraph const& graph, OrderProblem const& problem);

}  // namespace granary::detail
