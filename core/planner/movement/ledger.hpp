// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// The allocator of one memory node: assigns bytes to data. Best fit; free neighbours are merged.
///
/// All sizes are rounded up to the node's alignment, at least one unit of it. Every operation costs O(log blocks)
/// unless stated.
class GRANARY_EXPORT Ledger {
 public:
  Ledger(Bytes capacity, Bytes alignment);

  [[nodiscard]] Bytes capacity() const { return m_capacity; }
  [[nodiscard]] Bytes rounded(Bytes bytes) const { return round_up(std::max<Bytes>(bytes, 1), m_alignment); }
  [[nodiscard]] Bytes used() const { return m_used; }
  [[nodiscard]] Bytes free_bytes() const { return m_capacity - m_used; }

  /// Allocates `bytes` inside [low, high) in the smallest gap that is long enough, if there is one.
  [[nodiscard]] std::optional<Bytes> allocate(DataId data, Bytes bytes, Bytes low, Bytes high);
  void free(Bytes offset);
  /// Frees the end of the block at `offset`, which keeps `bytes`, not more than it has.
  void shrink(Bytes offset, Bytes bytes);

  struct Block {
    Bytes size;
    DataId data;
  };
  /// The bytes in use by blocks that start at `offset` or later. O(those blocks).
  [[nodiscard]] Bytes used_from(Bytes offset) const;
  /// The bytes in gaps that are smaller than the smallest block since the node was empty. O(those gaps).
  [[nodiscard]] Bytes lost_to_gaps() const;
  /// The blocks in use, by offset.
  [[nodiscard]] std::map<Bytes, Block> const& blocks() const { return m_blocks; }

  /// The data to evict so that `bytes` contiguous bytes inside [low, high) become free, with the fewest evicted bytes;
  /// empty if no window is long enough without data for which `evictable` is false. O(blocks).
  [[nodiscard]] std::vector<DataId> window(Bytes bytes, Bytes low, Bytes high,
                                           std::function<bool(DataId)> const& evictable) const;

 private:
  void add_gap(Bytes offset, Bytes size);
  void remove_gap(std::map<Bytes, Bytes>::iterator gap);

  Bytes m_capacity;
  Bytes m_alignment;
  Bytes m_used = 0;
  Bytes m_smallest = 0;  // block since the node was empty
  std::map<Bytes, Block> m_blocks;
  std::map<Bytes, Bytes> m_gaps;                     // offset -> size
  std::set<std::pair<Bytes, Bytes>> m_gaps_by_size;  // (size, offset)
};

}  // namespace granary::detail
