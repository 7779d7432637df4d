// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/order/segments.hpp>

#include <algorithm>
#include <numeric>

namespace granary {
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

}  // namespace

NumberLists NumberLists::of(std::vector<Entry> entries, std::size_t lists) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  NumberLists result;
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
  std::vector<NumberLists::Entry> readers;
  readers.reserve(cut.inputs.size());
  for (auto const& [segment, value] : cut.inputs) readers.push_back({value, segment});
  m_readers = NumberLists::of(std::move(readers), cut.value_data.size());
  m_tasks = NumberLists::of(std::move(cut.tasks), count);
  m_inputs = NumberLists::of(std::move(cut.inputs), count);
  m_outputs = NumberLists::of(std::move(cut.outputs), count);
  m_followers = NumberLists::of(std::move(cut.edges), count);
  m_reads = std::move(cut.reads);
  m_value_data = std::move(cut.value_data);
  m_predecessors.resize(count);
  for (std::size_t segment = 0; segment < count; ++segment) {
    for (auto const follower : m_followers[segment]) ++m_predecessors[follower];
  }
}

}  // namespace granary
