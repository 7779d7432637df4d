// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/planner/movement/ledger.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace granary::detail {

Ledger::Ledger(Bytes capacity, Bytes alignment) : m_capacity(capacity / alignment * alignment), m_alignment(alignment) {
  if (m_capacity > 0) add_gap(0, m_capacity);
}

std::optional<Bytes> Ledger::allocate(DataId data, Bytes bytes, Bytes low, Bytes high) {
  Bytes const size = rounded(bytes);
  for (auto it = m_gaps_by_size.lower_bound({size, 0}); it != m_gaps_by_size.end(); ++it) {
    auto const [gap_size, gap_offset] = *it;
    Bytes const start = std::max(gap_offset, low);
    Bytes const end = std::min(gap_offset + gap_size, high);
    if (start >= end || end - start < size) continue;
    remove_gap(m_gaps.find(gap_offset));
    if (start > gap_offset) add_gap(gap_offset, start - gap_offset);
    if (start + size < gap_offset + gap_size) add_gap(start + size, gap_offset + gap_size - start - size);
    m_smallest = m_blocks.empty() ? size : std::min(m_smallest, size);
    m_blocks.emplace(start, Block{size, data});
    m_used += size;
    return start;
  }
  return std::nullopt;
}

void Ledger::free(Bytes offset) {
  auto const block = m_blocks.find(offset);
  Bytes start = offset;
  Bytes size = block->second.size;
  m_used -= size;
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
  m_used -= end - start;
  block.size = start - offset;
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

void Ledger::add_gap(Bytes offset, Bytes size) {
  m_gaps.emplace(offset, size);
  m_gaps_by_size.emplace(size, offset);
}

void Ledger::remove_gap(std::map<Bytes, Bytes>::iterator gap) {
  m_gaps_by_size.erase({gap->second, gap->first});
  m_gaps.erase(gap);
}

std::vector<DataId> Ledger::window(Bytes bytes, Bytes low, Bytes high,
                                   std::function<bool(DataId)> const& evictable) const {
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
  auto const search_run = [&] {
    std::size_t last = 0;
    Bytes length = 0;
    Bytes cost = 0;
    for (std::size_t first = 0; first < run.size(); ++first) {
      while (last < run.size() && length < size) {
        length += run[last].size;
        cost += run[last].data.valid() ? run[last].size : 0;
        ++last;
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
      cost -= run[first].data.valid() ? run[first].size : 0;
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
