// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/plan_order.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace granary::detail {
namespace {

// The part of the memory for tasks that are fetched ahead.
constexpr Bytes ahead_part = 5;
// The tasks ahead where the transfers take longer than the tasks: more of them cannot make them faster.
constexpr std::uint64_t ahead_of_slow_links = 6;
// The tasks ahead where a datum is loaded while a task runs: even a new block keeps up with its workers.
constexpr std::uint64_t ahead_of_fast_links = 3;

}  // namespace

FoundOrder PlanOrder::find(std::vector<TaskId> const& tasks) {
  read_graph(tasks);
  m_mean_bytes = std::max<Bytes>(1, m_data_bytes / std::max<Bytes>(1, m_graph.data()));
  m_fits = m_data_bytes <= m_state.memory;
  if (!m_state.one_node()) return by_traffic(tasks);
  return m_fits ? by_priority(tasks) : by_speed(tasks);
}

// True if nodes outside the plan run the task: it may not, or should not, run on the plan's nodes.
bool PlanOrder::elsewhere(TaskId task) const {
  return std::ranges::none_of(m_state.view->task(task).allowed_groups & m_state.groups,
                              [&](GroupId group) { return m_state.slower.fast_on_all(std::array{task}, group); });
}

void PlanOrder::read_graph(std::vector<TaskId> const& tasks) {
  auto const& view = *m_state.view;
  m_graph = {};
  m_data_bytes = 0;
  std::unordered_map<DataId, std::uint32_t> numbers;
  double loaded = 0;
  std::chrono::duration<double> loading{0};
  for (TaskId const task : tasks) {
    for (auto const& access : view.task(task).accesses) {
      if (access.repeated) continue;
      auto const [known, is_new] = numbers.try_emplace(access.data, m_graph.data());
      if (is_new) {
        NodeId const node = m_state.only_node;
        auto const bytes = view.bytes(access.data);
        m_graph.add_data({.bytes = bytes,
                          .resident = node.valid() && view.expected(access.data, node),
                          .temporary = view.temporary(access.data)});
        m_data_bytes += bytes;
        auto const time = node.valid() ? view.transfer_time(access.data, node) : Duration{0};
        if (time > Duration{0}) {
          loaded += static_cast<double>(bytes);
          loading += time;
        }
      }
      m_graph.add_use({.data = known->second,
                       .reads = reads(access.mode),
                       .writes = writes(access.mode),
                       .commutes = commutes(access.mode)});
    }
    m_graph.end_task(elsewhere(task));
  }
  if (loaded > 0) m_seconds_per_byte = loading.count() / loaded;
}

// The order, and how many tasks are fetched ahead, for these tasks and the link to their memory.
FoundOrder PlanOrder::by_speed(std::vector<TaskId> const& tasks) {
  double const seconds = kernel_seconds(tasks);
  double const load = static_cast<double>(m_mean_bytes) * m_seconds_per_byte;
  bool const fast_link = load > 0 && load * static_cast<double>(tasks.size()) <= seconds;
  m_most_ahead = fast_link ? ahead_of_fast_links : most_ahead_by_memory;
  auto order = by_traffic(tasks);
  auto const moved = static_cast<double>(std::max(order.traffic.loaded, order.traffic.written));
  if (fast_link || moved * m_seconds_per_byte <= seconds) return order;
  auto const ahead = ahead_of(m_state.memory);
  m_most_ahead = ahead_of_slow_links;
  if (ahead_of(m_state.memory) == ahead) return order;
  auto closer = by_traffic(tasks);
  return closer.traffic.all() < order.traffic.all() ? closer : order;
}

// The time of the tasks of the plan's nodes, if all workers of those groups that are fast on them are at work.
double PlanOrder::kernel_seconds(std::vector<TaskId> const& tasks) const {
  std::chrono::duration<double> time{0};
  for (TaskId const id : tasks) {
    auto const& task = m_state.view->task(id);
    for (GroupId const group : m_state.slower.fast_groups(task)) {
      if (!m_state.groups.contains(group)) continue;
      time += m_state.view->kernel_time(id, group) / m_state.view->topology().group(group).workers.size();
      break;
    }
  }
  return time.count();
}

FoundOrder PlanOrder::by_priority(std::vector<TaskId> const& tasks) const {
  FoundOrder order;
  order.tasks.resize(tasks.size());
  std::iota(order.tasks.begin(), order.tasks.end(), 0U);
  std::ranges::stable_sort(order.tasks, [&](std::uint32_t a, std::uint32_t b) {
    return m_state.view->task(tasks[a]).priority > m_state.view->task(tasks[b]).priority;
  });
  order.blocks.resize(tasks.size(), 0);
  return order;
}

FoundOrder PlanOrder::by_traffic(std::vector<TaskId> const& tasks) const {
  auto const memory = m_state.memory;
  if (!m_state.one_node())
    return find_order(m_graph, {.memory = memory,
                                .memories = m_state.nodes,
                                .least_side = m_fits ? 1 : least_side(tasks),
                                .effort = m_options.effort});
  Bytes largest = 0;
  for (std::uint32_t data = 0; data < m_graph.data(); ++data) largest = std::max(largest, m_graph.bytes(data));
  auto const left = memory - std::min(memory / 2, std::max(ahead_of(memory) * m_mean_bytes, largest));
  return find_order(m_graph, {.memory = left, .effort = m_options.effort});
}

// A square block of so many lines needs two values for each line while it runs a task for each pair of them: with fewer
// lines its links would be slower than its workers.
double PlanOrder::least_side(std::vector<TaskId> const& tasks) const {
  auto const& topology = m_state.view->topology();
  auto const& machine = topology.machine();
  auto const host = std::ranges::find(machine.nodes, NodeKind::Host, &MemoryNode::kind);
  if (host == machine.nodes.end()) return 1;
  NodeId const from(static_cast<std::uint32_t>(host - machine.nodes.begin()));
  std::vector<double> sharing(machine.buses.size());  // nodes of the plan that load over the bus
  std::vector<LinkId> ways;
  for (GroupId const group : m_state.groups) {
    auto const way = topology.next_hop(from, topology.group(group).node);
    if (!way.valid()) continue;
    ways.push_back(way);
    for (auto const bus : machine[way].buses) ++sharing[bus];
  }
  double slowest = std::numeric_limits<double>::max();
  for (LinkId const way : ways) {
    slowest = std::min(slowest, machine[way].bandwidth);
    for (auto const bus : machine[way].buses) slowest = std::min(slowest, machine.buses[bus].bandwidth / sharing[bus]);
  }
  double const working = kernel_seconds(tasks) / static_cast<double>(tasks.size());
  double const loading = static_cast<double>(m_mean_bytes) / slowest;
  return ways.empty() || working <= 0 ? 1 : 2 * loading / working;
}

std::uint64_t PlanOrder::ahead_of(Bytes memory) const {
  if (m_options.ahead >= 0) return static_cast<std::uint64_t>(m_options.ahead);
  return std::min(m_most_ahead, memory / ahead_part / m_mean_bytes);
}

}  // namespace granary::detail
