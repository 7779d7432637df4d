// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// The allocator of one memory node: assigns bytes to data. Best fit; free neighbours are merged.
///
/// If most bytes in use are in blocks of about one size (the tiles of a matrix, except at its edges), the multiples of
/// the largest of these sizes divide the memory into *slots*. A block of about that size takes a slot, so that each one
/// that leaves is room for the next. Others share as few slots as they can: they take the rest of one that is in use
/// before they break another.
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

  enum class Fit : std::uint8_t {
    Slots,  ///< as above
    Tight   ///< at the start of the smallest gap: in an empty range everything fits that is not larger in all
  };
  /// Allocates `bytes` inside [low, high), if a gap there is long enough. O(log blocks + gaps that are long enough).
  [[nodiscard]] std::optional<Bytes> allocate(DataId data, Bytes bytes, Bytes low, Bytes high, Fit fit = Fit::Slots);
  /// True if `allocate` would find such a gap.
  [[nodiscard]] bool fits(Bytes bytes, Bytes low, Bytes high) const {
    return find_place(rounded(bytes), low, high, Fit::Tight).has_value();
  }
  void free(Bytes offset);
  /// Frees the end of the block at `offset`, which keeps `bytes`, not more than it has.
  void shrink(Bytes offset, Bytes bytes);

  struct Block {
    Bytes size;
    DataId data;
  };
  /// The length of a slot; 0 if there are none.
  [[nodiscard]] Bytes slot() const { return m_slot; }
  /// The bytes in use by blocks that start at `offset` or later. O(those blocks).
  [[nodiscard]] Bytes used_from(Bytes offset) const;
  /// The bytes in gaps that are smaller than the smallest block since the node was empty. O(those gaps).
  [[nodiscard]] Bytes lost_to_gaps() const;
  /// The blocks in use, by offset.
  [[nodiscard]] std::map<Bytes, Block> const& blocks() const { return m_blocks; }

  /// The data to evict so that `bytes` contiguous bytes inside [low, high) become free, with the fewest evicted bytes;
  /// `unwanted`, which would be evicted next, counts a quarter of its bytes. Empty if no window is long enough without
  /// data for which `evictable` is false. O(blocks).
  [[nodiscard]] std::vector<DataId> window(Bytes bytes, Bytes low, Bytes high,
                                           std::function<bool(DataId)> const& evictable, DataId unwanted = {}) const;

 private:
  void add_gap(Bytes offset, Bytes size);
  void remove_gap(std::map<Bytes, Bytes>::iterator gap);
  [[nodiscard]] std::optional<Bytes> find_place(Bytes size, Bytes low, Bytes high, Fit fit) const;
  /// So many more or fewer blocks of that size are in use.
  void count_block(Bytes size, std::int64_t blocks);
  void set_slot(Bytes changed);

  Bytes m_capacity;
  Bytes m_alignment;
  Bytes m_used = 0;
  Bytes m_smallest = 0;  // block since the node was empty
  std::map<Bytes, Block> m_blocks;
  std::map<Bytes, Bytes> m_gaps;                     // offset -> size
  std::set<std::pair<Bytes, Bytes>> m_gaps_by_size;  // (size, offset)
  // Of the blocks in use: how many by size, and their bytes by class of sizes, which differ by an eighth at most.
  std::map<Bytes, std::uint64_t> m_counts;
  std::map<Bytes, Bytes> m_in_class;
  std::set<std::pair<Bytes, Bytes>> m_classes;  // the same as (bytes, class)
  Bytes m_slot_class = 0;                       // 0: there are no slots
  Bytes m_slot = 0;
};

}  // namespace granary::detail
