// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/movement/ledger.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace granary::detail {
namespace {

// Sizes of one class differ by an eighth at most.
Bytes class_of(Bytes size) { return round_up(size, std::max<Bytes>(std::bit_floor(size) / 8, 1)); }

struct Found {
  Bytes offset;
  Bytes spoils;  // free bytes that others may need in one piece; the place that spoils the fewest is the best
};

// In a gap that is long enough.
Found whole_slot(Bytes size, Bytes start, Bytes end, Bytes slot) {
  Bytes const first = round_up(start, slot);
  return first + size <= end ? Found{first, 0} : Found{start, end - start};
}

// The same for blocks that share slots: in the shorter rest of a slot, else across the border of two rests, else at the
// start of a whole slot.
Found part_of_slot(Bytes size, Bytes start, Bytes end, Bytes slot) {
  Bytes const first = round_up(start, slot);
  Bytes const last = end / slot * slot;
  if (first > last) return {start, end - start};
  Bytes const head = first - start;
  Bytes const tail = end - last;
  if (tail >= size && (tail <= head || head < size)) return {end - size, tail};
  if (head >= size) return {start, head};
  if (first == last) return {start, end - start};
  return {first + size <= end ? first : start, slot + end - start};
}

}  // namespace

Ledger::Ledger(Bytes capacity, Bytes alignment) : m_capacity(capacity / alignment * alignment), m_alignment(alignment) {
  if (m_capacity > 0) add_gap(0, m_capacity);
}

std::optional<Bytes> Ledger::allocate(DataId data, Bytes bytes, Bytes low, Bytes high, Fit fit) {
  Bytes const size = rounded(bytes);
  auto const start = find_place(size, low, high, fit);
  if (!start) return std::nullopt;
  auto const gap = std::prev(m_gaps.upper_bound(*start));
  auto const [gap_offset, gap_size] = *gap;
  remove_gap(gap);
  if (*start > gap_offset) add_gap(gap_offset, *start - gap_offset);
  if (*start + size < gap_offset + gap_size) add_gap(*start + size, gap_offset + gap_size - *start - size);
  m_smallest = m_blocks.empty() ? size : std::min(m_smallest, size);
  m_blocks.emplace(*start, Block{size, data});
  count_block(size, 1);
  return start;
}

std::optional<Bytes> Ledger::find_place(Bytes size, Bytes low, Bytes high, Fit fit) const {
  bool const has_slot = m_slot > 0 && class_of(size) == m_slot_class;
  Bytes const slot = fit == Fit::Tight ? 0 : has_slot ? std::max(m_slot, size) : m_slot;
  std::optional<Found> best;
  for (auto it = m_gaps_by_size.lower_bound({size, 0}); it != m_gaps_by_size.end(); ++it) {
    auto const [gap_size, gap_offset] = *it;
    Bytes const start = std::max(gap_offset, low);
    Bytes const end = std::min(gap_offset + gap_size, high);
    if (start >= end || end - start < size) continue;
    auto const place = slot == 0 || end - start == size ? Found{start, 0}
                       : has_slot                       ? whole_slot(size, start, end, slot)
                                                        : part_of_slot(size, start, end, slot);
    if (!best || place.spoils < best->spoils) best = place;
    if (best->spoils == 0) break;
  }
  return best ? std::optional(best->offset) : std::nullopt;
}

void Ledger::free(Bytes offset) {
  auto const block = m_blocks.find(offset);
  Bytes start = offset;
  Bytes size = block->second.size;
  count_block(size, -1);
  m_blocks.erase(block);
  auto const after = m_gaps.lower_bound(offset);
  if (after != m_gaps.begin()) {
    auto const before = std::prev(after);
    if (before->first + before->second == start) {
      start = before->first;
      size += before->second;
      remove_gap(before);
    }
  }
  if (after != m_gaps.end() && start + size == after->first) {
    size += after->second;
    remove_gap(after);
  }
  add_gap(start, size);
}

void Ledger::shrink(Bytes offset, Bytes bytes) {
  auto& block = m_blocks.find(offset)->second;
  Bytes const end = offset + block.size;
  Bytes const start = offset + rounded(bytes);
  if (start == end) return;
  count_block(block.size, -1);
  block.size = start - offset;
  count_block(block.size, 1);
  Bytes size = end - start;
  if (auto const after = m_gaps.find(end); after != m_gaps.end()) {
    size += after->second;
    remove_gap(after);
  }
  add_gap(start, size);
}

Bytes Ledger::used_from(Bytes offset) const {
  Bytes total = 0;
  for (auto block = m_blocks.lower_bound(offset); block != m_blocks.end(); ++block) total += block->second.size;
  return total;
}

Bytes Ledger::lost_to_gaps() const {
  if (m_blocks.empty()) return 0;
  Bytes total = 0;
  for (auto gap = m_gaps_by_size.begin(); gap != m_gaps_by_size.end() && gap->first < m_smallest; ++gap)
    total += gap->first;
  return total;
}

void Ledger::count_block(Bytes size, std::int64_t blocks) {
  Bytes const sizes = class_of(size);
  auto const count = m_counts.try_emplace(size, 0).first;
  count->second += static_cast<std::uint64_t>(blocks);
  if (count->second == 0) m_counts.erase(count);
  auto const in_class = m_in_class.try_emplace(sizes, 0).first;
  m_classes.erase({in_class->second, sizes});
  in_class->second += static_cast<Bytes>(blocks) * size;
  m_used += static_cast<Bytes>(blocks) * size;
  in_class->second > 0 ? static_cast<void>(m_classes.emplace(in_class->second, sizes))
                       : static_cast<void>(m_in_class.erase(in_class));
  set_slot(size);
}

// Memory without a limit, such as a scratch file, has room at its start: parts of slots may be at the end.
void Ledger::set_slot(Bytes changed) {
  if (m_capacity >= unbounded / 2) return;
  Bytes const before = m_slot_class;
  m_slot_class = !m_classes.empty() && 3 * m_classes.rbegin()->first >= 2 * m_used ? m_classes.rbegin()->second : 0;
  if (m_slot_class == 0) {
    m_slot = 0;
  } else if (m_slot_class != before) {
    m_slot = std::prev(m_counts.upper_bound(m_slot_class))->first;
  } else if (class_of(changed) == m_slot_class) {
    m_slot = std::max(m_slot, changed);
  }
}

void Ledger::add_gap(Bytes offset, Bytes size) {
  m_gaps.emplace(offset, size);
  m_gaps_by_size.emplace(size, offset);
}

void Ledger::remove_gap(std::map<Bytes, Bytes>::iterator gap) {
  m_gaps_by_size.erase({gap->second, gap->first});
  m_gaps.erase(gap);
}

std::vector<DataId> Ledger::window(Bytes bytes, Bytes low, Bytes high, std::function<bool(DataId)> const& evictable,
                                   DataId unwanted) const {
  Bytes const size = rounded(bytes);
  // A best window starts where a gap or an evictable block starts: slide over the runs between fixed blocks.
  struct Piece {
    Bytes offset;
    Bytes size;
    DataId data;  // invalid for a gap
  };
  std::vector<Piece> run;
  std::vector<DataId> best;
  Bytes best_cost = std::numeric_limits<Bytes>::max();
  auto const cost_of = [&](Piece const& piece) -> Bytes {
    return !piece.data.valid() ? 0 : piece.data == unwanted ? piece.size / 4 : piece.size;
  };
  auto const search_run = [&] {
    std::size_t last = 0;
    Bytes length = 0;
    Bytes cost = 0;
    for (std::size_t first = 0; first < run.size(); ++first) {
      while (last < run.size() && length < size) {
        length += run[last].size;
        cost += cost_of(run[last++]);
      }
      if (length < size) break;
      if (cost < best_cost) {
        best_cost = cost;
        best.clear();
        for (std::size_t i = first; i < last; ++i) {
          if (run[i].data.valid()) best.push_back(run[i].data);
        }
      }
      length -= run[first].size;
      cost -= cost_of(run[first]);
    }
    run.clear();
  };
  auto gap = m_gaps.begin();
  auto block = m_blocks.begin();
  while (gap != m_gaps.end() || block != m_blocks.end()) {
    bool const take_gap = block == m_blocks.end() || (gap != m_gaps.end() && gap->first < block->first);
    Piece const piece =
        take_gap ? Piece{gap->first, gap->second, {}} : Piece{block->first, block->second.size, block->second.data};
    take_gap ? static_cast<void>(++gap) : static_cast<void>(++block);
    Bytes const start = std::max(piece.offset, low);
    Bytes const end = std::min(piece.offset + piece.size, high);
    if (start >= end) continue;
    if (piece.data.valid() && !evictable(piece.data)) {
      search_run();
      continue;
    }
    run.push_back({start, end - start, piece.data});
  }
  search_run();
  return best;
}

}  // namespace granary::detail
