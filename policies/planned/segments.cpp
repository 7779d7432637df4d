// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/segments.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace granary::detail {
namespace {

constexpr std::uint32_t none = 0xffffffffU;

/// Walks through the tasks and cuts them.
class Cut {
 public:
  explicit Cut(OrderGraph const& graph)
      : m_graph(graph), m_value(graph.data()), m_writer(graph.data(), none), m_readers(graph.data()) {
    std::iota(m_value.begin(), m_value.end(), 0U);
    value_data = m_value;
  }

  void add(std::uint32_t task) {
    auto const segment = segment_of(task);
    tasks.push_back({segment, task});
    for (auto const& use : m_graph.uses(task)) depend(segment, use);
    for (auto const& use : m_graph.uses(task)) {
      if (use.writes) {
        write(segment, use.data);
      } else {
        auto& readers = m_readers[use.data];
        if (m_writer[use.data] != segment && (readers.empty() || readers.back() != segment)) readers.push_back(segment);
      }
    }
  }

  std::vector<NumberLists::Entry> tasks, inputs, outputs, edges;
  std::vector<std::uint32_t> reads, value_data;

 private:
  // The one that the task continues, or a new one.
  std::uint32_t segment_of(std::uint32_t task) {
    std::uint32_t primary = none;
    for (auto const& use : m_graph.uses(task)) {
      if (!use.writes) continue;
      auto const last = m_writer[use.data];
      if (last != none && !m_closed[last] && m_primary[last] == use.data) return last;
      if (primary == none) primary = use.data;
    }
    m_primary.push_back(primary);
    m_closed.push_back(false);
    reads.push_back(0);
    return static_cast<std::uint32_t>(reads.size() - 1);
  }

  void depend(std::uint32_t segment, OrderGraph::Use const& use) {
    auto const follow = [&](std::uint32_t before) {
      if (before == none || before == segment) return;
      m_closed[before] = true;
      edges.push_back({before, segment});
    };
    follow(m_writer[use.data]);
    if (use.writes) {
      std::ranges::for_each(m_readers[use.data], follow);
      return;
    }
    ++reads[segment];
    if (m_writer[use.data] != segment) inputs.push_back({segment, m_value[use.data]});
  }

  void write(std::uint32_t segment, std::uint32_t data) {
    m_readers[data].clear();
    if (m_writer[data] == segment) return;
    m_writer[data] = segment;
    m_value[data] = static_cast<std::uint32_t>(value_data.size());
    value_data.push_back(data);
    outputs.push_back({segment, m_value[data]});
  }

  OrderGraph const& m_graph;
  std::vector<std::uint32_t> m_value;                 // the current one, by datum
  std::vector<std::uint32_t> m_writer;                // the segment that made it
  std::vector<std::vector<std::uint32_t>> m_readers;  // segments that read it
  std::vector<std::uint32_t> m_primary;               // by segment
  std::vector<bool> m_closed;                         // another segment depends on it
};

std::vector<NumberLists::Entry> reversed(std::vector<NumberLists::Entry> entries) {
  for (auto& [list, number] : entries) std::swap(list, number);
  return entries;
}

// Stable, by the values of the member, which are below `values`.
void sort_by(std::uint32_t NumberLists::Entry::*member, std::size_t values, std::span<NumberLists::Entry const> from,
             std::span<NumberLists::Entry> to) {
  std::vector<std::size_t> ends(values + 1);
  for (auto const& entry : from) ++ends[entry.*member + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (auto const& entry : from) to[ends[entry.*member]++] = entry;
}

}  // namespace

NumberLists NumberLists::of(std::vector<Entry> entries, std::size_t lists) {
  std::uint32_t numbers = 0;
  for (auto const& entry : entries) numbers = std::max(numbers, entry.number + 1);
  std::vector<Entry> sorted(entries.size());
  sort_by(&Entry::number, numbers, entries, sorted);
  sort_by(&Entry::list, lists, sorted, entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return of_sorted(entries, lists);
}

NumberLists NumberLists::in_order(std::span<Entry const> entries, std::size_t lists) {
  std::vector<Entry> sorted(entries.size());
  sort_by(&Entry::list, lists, entries, sorted);
  return of_sorted(sorted, lists);
}

NumberLists NumberLists::of_sorted(std::span<Entry const> entries, std::size_t lists) {
  NumberLists result;
  result.m_numbers.reserve(entries.size());
  result.m_ends.reserve(lists + 1);
  auto entry = entries.begin();
  for (std::size_t list = 0; list < lists; ++list) {
    for (; entry != entries.end() && entry->list == list; ++entry) result.push(entry->number);
    result.end_list();
  }
  return result;
}

Segments::Segments(OrderGraph const& graph) {
  Cut cut(graph);
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) cut.add(task);
  auto const count = cut.reads.size();
  m_readers = NumberLists::of(reversed(cut.inputs), cut.value_data.size());
  m_predecessors = NumberLists::of(reversed(cut.edges), count);
  m_tasks = NumberLists::of(std::move(cut.tasks), count);
  m_inputs = NumberLists::of(std::move(cut.inputs), count);
  m_outputs = NumberLists::of(std::move(cut.outputs), count);
  m_followers = NumberLists::of(std::move(cut.edges), count);
  m_reads = std::move(cut.reads);
  m_value_data = std::move(cut.value_data);
}

}  // namespace granary::detail
