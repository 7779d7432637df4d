// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/planned/segments.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// How blocks grow.
struct GRANARY_EXPORT GrowthRule {
  /// True if joining segments are charged, like the inputs that they bring.
  bool charge_outputs = true;
  /// True if a block begins beside the last one, instead of with the first segment that may begin.
  bool begin_beside = true;
  /// The part of a block's inputs, per step of its longest segment, that is in memory at one time.
  double streamed = 0.5;
  double room = 0;       ///< bytes of a block's data and streamed inputs
  double most_data = 0;  ///< bytes of the data that a block writes
};

/// The graph's segments in *blocks*, in an order in which they can run: sets of segments whose data stay in memory
/// while their other inputs stream through it.
struct GRANARY_EXPORT Blocks {
  NumberLists segments;    ///< by block
  std::uint64_t work = 0;  ///< steps of the computation: the same everywhere
};

/// Forms blocks without knowledge of where a datum lies in a matrix or a grid. A block begins with a segment all of
/// whose predecessors are in blocks. Then it grows: a candidate is such a segment that shares an input with the block;
/// it brings the inputs that the block lacks, and every other segment that could run then, transitively. The candidate
/// for which these segments together read most often, per value brought (and, with `charge_outputs`, per segment),
/// joins with all of them, or with none: so a block of a matrix grows by whole rows and columns. Only where a block
/// holds less than half of its room does a candidate join alone.
///
/// Costs, for each group of segments that joins, O(readers of the values that each candidate brings).
[[nodiscard]] GRANARY_EXPORT Blocks grow_blocks(OrderGraph const& graph, Segments const& segments,
                                                GrowthRule const& rule);

/// The tasks of the blocks: block by block, inside of each by level, that is the longest chain of tasks of the block up
/// to the task, then by submission. So what all its data need at the same step streams once. With `turns`, every other
/// block runs the tasks of its segments that commute, and whose inputs earlier blocks made, from the last to the first:
/// it begins with what the block before read last. O(uses + tasks log tasks).
[[nodiscard]] GRANARY_EXPORT std::vector<std::uint32_t> order_of(OrderGraph const& graph, Segments const& segments,
                                                                 Blocks const& blocks, bool turns = false);

}  // namespace granary::detail
