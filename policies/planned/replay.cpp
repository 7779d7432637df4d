// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/replay.hpp>

#include <queue>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

constexpr std::uint32_t never = 0xffffffffU;

/// The position in the order at which each use's value is used next in the memory.
std::vector<std::uint32_t> next_uses(OrderGraph const& graph, std::span<std::uint32_t const> order,
                                     std::vector<std::uint32_t>& first_use) {
  std::vector<std::uint32_t> next(graph.all_uses());
  first_use.assign(graph.data(), never);
  for (auto position = static_cast<std::uint32_t>(order.size()); position-- > 0;) {
    auto use = graph.first_use(order[position]);
    bool const elsewhere = graph.elsewhere(order[position]);
    for (auto const& access : graph.uses(order[position])) {
      auto& first = first_use[access.data];
      next[use++] = first;
      if (!elsewhere) first = position;
      if (elsewhere && access.writes) first = never;
    }
  }
  return next;
}

class Memory {
 public:
  Memory(OrderGraph const& graph, Bytes capacity, std::vector<std::uint32_t> const& first_use)
      : m_graph(graph), m_capacity(capacity), m_data(graph.data()) {
    for (std::uint32_t data = 0; data < graph.data(); ++data) {
      if (graph[data].resident) take(data, first_use[data]);
    }
  }

  void use(OrderGraph::Use const& access, std::uint32_t next) {
    auto& datum = m_data[access.data];
    if (!datum.there && access.reads) m_traffic.loaded += m_graph.bytes(access.data);
    datum.changed = datum.changed || access.writes;
    take(access.data, next);
  }
  void use_elsewhere(OrderGraph::Use const& access) {
    if (access.reads) write(access.data);
    if (!access.writes) return;
    auto& datum = m_data[access.data];
    datum.changed = false;
    if (std::exchange(datum.there, false)) m_used -= m_graph.bytes(access.data);
  }
  // Room for what the task at this position uses.
  void make_room(std::span<OrderGraph::Use const> uses, std::uint32_t position) {
    Bytes needed = m_used;
    for (auto const& access : uses) {
      m_data[access.data].position = position;
      if (!m_data[access.data].there) needed += m_graph.bytes(access.data);
    }
    std::vector<Entry> own;
    while (needed > m_capacity && !m_furthest.empty()) {
      auto const [next, data] = m_furthest.top();
      m_furthest.pop();
      if (!m_data[data].there || m_data[data].next != next) continue;
      if (m_data[data].position == position) {
        own.emplace_back(next, data);
        continue;
      }
      needed -= m_graph.bytes(data);
      drop(data);
    }
    for (auto const& entry : own) m_furthest.push(entry);
  }
  [[nodiscard]] Traffic at_end() {
    for (std::uint32_t data = 0; data < m_graph.data(); ++data) {
      if (!m_graph[data].temporary) write(data);
    }
    return m_traffic;
  }

 private:
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // next use, datum
  struct Datum {
    std::uint32_t next = never;
    std::uint32_t position = never;  // of the last task that uses it
    bool there = false;
    bool changed = false;
  };

  void take(std::uint32_t data, std::uint32_t next) {
    if (!std::exchange(m_data[data].there, true)) m_used += m_graph.bytes(data);
    m_data[data].next = next;
    m_furthest.emplace(next, data);
  }
  void drop(std::uint32_t data) {
    // If a task elsewhere needs the temporary value, that one's use counts the write.
    if (!m_graph[data].temporary || m_data[data].next != never) write(data);
    m_data[data].there = false;
    m_used -= m_graph.bytes(data);
  }
  void write(std::uint32_t data) {
    if (std::exchange(m_data[data].changed, false)) m_traffic.written += m_graph.bytes(data);
  }

  OrderGraph const& m_graph;
  Bytes m_capacity;
  Bytes m_used = 0;
  std::vector<Datum> m_data;
  std::priority_queue<Entry> m_furthest;  // with entries that are out of date
  Traffic m_traffic;
};

}  // namespace

Traffic replay(OrderGraph const& graph, std::span<std::uint32_t const> order, Bytes memory) {
  std::vector<std::uint32_t> first_use;
  auto const next = next_uses(graph, order, first_use);
  Memory state(graph, memory, first_use);
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    auto const uses = graph.uses(order[position]);
    if (graph.elsewhere(order[position])) {
      for (auto const& access : uses) state.use_elsewhere(access);
      continue;
    }
    state.make_room(uses, position);
    auto use = graph.first_use(order[position]);
    for (auto const& access : uses) state.use(access, next[use++]);
  }
  return state.at_end();
}

}  // namespace granary::detail
