// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/least_missing.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace granary::detail {
namespace {

constexpr std::uint32_t no_task = 0xffffffffU;

class ListOfReady {
 public:
  ListOfReady(OrderGraph const& graph, TaskLinks const& links, Bytes memory, LeastMissingRule const& rule)
      : m_graph(graph), m_links(links), m_memory(memory), m_rule(rule), m_tasks(graph.tasks()), m_data(graph.data()) {
    for (std::uint32_t data = 0; data < graph.data(); ++data) {
      m_data[data].left = static_cast<std::uint32_t>(links.users(data).size());
      if (graph[data].resident) enter(data);
    }
    for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
      m_tasks[task].waits_for = links.predecessors(task);
      auto const band = band_of(task);
      if (band >= m_bands.size()) m_bands.resize(band + 1);
      ++m_bands[band].left;
    }
    for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
      if (links.predecessors(task) == 0) make_ready(task);
    }
  }

  ListOrder run() {
    m_order.tasks.reserve(m_graph.tasks());
    while (m_order.tasks.size() < m_graph.tasks()) {
      while (m_bands[m_band].left == 0) {
        ++m_band;
        for (auto const task : m_bands[m_band].ready) offer(task);
      }
      auto const next = m_best.top();
      m_best.pop();
      if (!m_tasks[next.task].done && m_tasks[next.task].offer == next.offer) run(next.task);
    }
    return std::move(m_order);
  }

 private:
  struct TaskState {
    std::uint32_t waits_for = 0;
    std::uint32_t offer = 0;  // the last entry of m_best
    double cost = 0;
    bool ready = false;
    bool done = false;
  };
  struct Datum {
    bool there = false;
    std::uint32_t left = 0;  // uses
    std::uint32_t next = 0;  // the first user that may not have run
    std::vector<std::uint32_t> ready;
  };
  struct Band {
    std::uint32_t left = 0;  // tasks
    std::vector<std::uint32_t> ready;
  };
  struct Offer {
    double cost;
    std::int64_t tie;
    std::uint32_t task;
    std::uint32_t offer;
    friend bool operator>(Offer const& a, Offer const& b) {
      return std::pair(a.cost, a.tie) > std::pair(b.cost, b.tie);
    }
  };

  [[nodiscard]] double bytes_of(std::uint32_t data) const { return static_cast<double>(m_graph.bytes(data)); }
  [[nodiscard]] std::uint32_t band_of(std::uint32_t task) const {
    return m_rule.band == 0 ? 0 : m_links.level(task) / m_rule.band;
  }

  [[nodiscard]] std::int64_t tie_of(std::uint32_t task) const {
    auto const by_level = std::int64_t{m_links.level(task)} << 32U;
    switch (m_rule.tie) {
      case LeastMissingRule::Tie::Submission:
        return task;
      case LeastMissingRule::Tie::Shallowest:
        return by_level + task;
      case LeastMissingRule::Tie::Deepest:
        return task - by_level;
      case LeastMissingRule::Tie::Newest:
        break;
    }
    return -static_cast<std::int64_t>(m_tasks[task].waits_for);  // see make_ready
  }

  // The part of the task's cost for this use, given where the datum is.
  [[nodiscard]] double cost_of(OrderGraph::Use const& use) const {
    auto const& datum = m_data[use.data];
    if (datum.there) return datum.left == 1 ? -m_rule.dying * bytes_of(use.data) : 0;
    return (use.reads ? 1 : m_rule.outputs) * bytes_of(use.data);
  }

  void make_ready(std::uint32_t task) {
    auto& state = m_tasks[task];
    state.ready = true;
    state.waits_for = ++m_ready;
    if (!m_graph.elsewhere(task)) {
      for (auto const& use : m_graph.uses(task)) {
        state.cost += cost_of(use);
        m_data[use.data].ready.push_back(task);
      }
    }
    if (band_of(task) == m_band) {
      offer(task);
    } else {
      m_bands[band_of(task)].ready.push_back(task);
    }
  }

  void offer(std::uint32_t task) {
    m_best.push({m_tasks[task].cost, tie_of(task), task, ++m_tasks[task].offer});
    m_order.work += 4 * static_cast<std::uint64_t>(std::bit_width(m_best.size()));
  }

  // Calls change() and offers the ready tasks that use the datum at their new costs.
  template <class Change>
  void change(std::uint32_t data, Change&& change) {
    auto& ready = m_data[data].ready;
    std::erase_if(ready, [&](std::uint32_t task) { return m_tasks[task].done; });
    m_order.work += 4 * ready.size();
    std::vector<double>& before = m_before;
    before.clear();
    for (auto const task : ready) before.push_back(cost_on(task, data));
    change();
    for (std::size_t i = 0; i < ready.size(); ++i) {
      auto const difference = cost_on(ready[i], data) - before[i];
      if (difference == 0) continue;
      m_tasks[ready[i]].cost += difference;
      if (band_of(ready[i]) == m_band) offer(ready[i]);
    }
  }
  [[nodiscard]] double cost_on(std::uint32_t task, std::uint32_t data) const {
    for (auto const& use : m_graph.uses(task)) {
      if (use.data == data) return cost_of(use);
    }
    return 0;
  }

  void enter(std::uint32_t data) {
    m_used += m_graph.bytes(data);
    change(data, [&] { m_data[data].there = true; });
    m_furthest.emplace(next_use(data), data);
  }
  void leave(std::uint32_t data) {
    m_used -= m_graph.bytes(data);
    change(data, [&] { m_data[data].there = false; });
  }

  // The task, or the level, at which the datum is used next.
  std::uint32_t next_use(std::uint32_t data) {
    bool const by_level = m_rule.tie != LeastMissingRule::Tie::Submission;
    auto const users = by_level ? m_links.users_by_level(data) : m_links.users(data);
    auto& next = m_data[data].next;
    while (next < users.size() && m_tasks[users[next]].done) ++next;
    if (next == users.size()) return no_task;
    return by_level ? m_links.level(users[next]) : users[next];
  }

  void make_room(std::span<OrderGraph::Use const> uses) {
    Bytes needed = 0;
    for (auto const& use : uses) needed += m_data[use.data].there ? 0 : m_graph.bytes(use.data);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> own;
    while (m_used + needed > m_memory && !m_furthest.empty()) {
      auto const [next, data] = m_furthest.top();
      m_furthest.pop();
      if (!m_data[data].there || next != next_use(data)) continue;
      if (std::ranges::any_of(uses, [&](auto const& use) { return use.data == data; })) {
        own.emplace_back(next, data);
      } else {
        leave(data);
      }
    }
    for (auto const& entry : own) m_furthest.push(entry);
  }

  void run(std::uint32_t task) {
    auto const uses = m_graph.uses(task);
    bool const elsewhere = m_graph.elsewhere(task);
    m_tasks[task].done = true;
    if (!elsewhere) make_room(uses);
    for (auto const& use : uses) {
      auto& datum = m_data[use.data];
      if (elsewhere) {
        if (datum.there && use.writes) leave(use.data);
      } else if (!datum.there) {
        enter(use.data);
      }
      if (datum.left == 2 && m_rule.dying != 0) {
        change(use.data, [&] { --datum.left; });
      } else {
        --datum.left;
      }
      if (datum.there) m_furthest.emplace(next_use(use.data), use.data);
    }
    m_order.tasks.push_back(task);
    --m_bands[band_of(task)].left;
    m_order.work += 16 * uses.size();
    for (auto const follower : m_links.followers(task)) {
      if (--m_tasks[follower].waits_for == 0) make_ready(follower);
    }
  }

  OrderGraph const& m_graph;
  TaskLinks const& m_links;
  Bytes m_memory;
  LeastMissingRule m_rule;
  std::vector<TaskState> m_tasks;
  std::vector<Datum> m_data;
  std::vector<Band> m_bands;
  std::uint32_t m_band = 0;
  std::uint32_t m_ready = 0;  // tasks that have become ready
  Bytes m_used = 0;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> m_best;    // with offers that were replaced
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> m_furthest;  // next use, datum; some are out of date
  std::vector<double> m_before;
  ListOrder m_order;
};

}  // namespace

TaskLinks::TaskLinks(OrderGraph const& graph) : m_predecessors(graph.tasks()), m_levels(graph.tasks()) {
  std::vector<NumberLists::Entry> edges;
  std::vector<std::uint32_t> writer(graph.data(), no_task);
  std::vector<std::vector<std::uint32_t>> readers(graph.data());
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    auto const follow = [&](std::uint32_t before) {
      if (before == no_task) return;
      edges.push_back({before, task});
      m_levels[task] = std::max(m_levels[task], m_levels[before] + 1);
    };
    for (auto const& use : graph.uses(task)) {
      follow(writer[use.data]);
      if (use.writes) std::ranges::for_each(readers[use.data], follow);
    }
    for (auto const& use : graph.uses(task)) {
      if (use.writes) {
        writer[use.data] = task;
        readers[use.data].clear();
      } else {
        readers[use.data].push_back(task);
      }
    }
  }
  m_followers = NumberLists::of(std::move(edges), graph.tasks());
  std::vector<std::uint32_t> by_level(graph.tasks());
  std::iota(by_level.begin(), by_level.end(), 0U);
  std::ranges::stable_sort(by_level, {}, [&](std::uint32_t task) { return m_levels[task]; });
  std::vector<NumberLists::Entry> users;
  users.reserve(graph.all_uses());
  for (auto const task : by_level) {
    for (auto const& use : graph.uses(task)) users.push_back({use.data, task});
  }
  m_users_by_level = NumberLists::in_order(users, graph.data());
  m_users = NumberLists::of(std::move(users), graph.data());
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    for (auto const follower : m_followers[task]) ++m_predecessors[follower];
  }
}

ListOrder order_by_missing(OrderGraph const& graph, TaskLinks const& links, Bytes memory,
                           LeastMissingRule const& rule) {
  return ListOfReady(graph, links, memory, rule).run();
}

}  // namespace granary::detail
