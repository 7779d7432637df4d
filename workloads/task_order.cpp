// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/task_graph.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>

#include <algorithm>
#include <functional>
#include <queue>

namespace granary::detail {
namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

struct Edges {
  std::vector<std::vector<std::size_t>> successors;
  std::vector<std::size_t> predecessors;  // number of predecessors

  explicit Edges(std::size_t tasks) : successors(tasks), predecessors(tasks, 0) {}
  void add(std::size_t before, std::size_t after) {
    successors[before].push_back(after);
    ++predecessors[after];
  }
};

// The dependencies by accesses in the order of the list, and the stated ones.
Edges edges_of(workloads::TaskGraphDescription const& graph) {
  Edges edges(graph.tasks.size());
  TaskGraph implied;
  std::vector<Access> accesses;
  for (auto const& task : graph.tasks) {
    accesses.clear();
    for (auto const& access : task.accesses) {
      accesses.push_back({DataId(static_cast<std::uint32_t>(access.datum)), access.mode});
    }
    implied.add(AccessList(accesses));
  }
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    implied.for_each_successor(implied[TaskId(t)], [&](TaskId after) { edges.add(t, after.index()); });
    for (auto const before : graph.tasks[t].after) edges.add(before, t);
  }
  return edges;
}

// Each remaining task waits for another remaining one: following these leads into a cycle.
std::vector<std::size_t> find_cycle(Edges const& edges) {
  std::vector<std::size_t> waits_for(edges.predecessors.size(), nobody);
  std::size_t start = nobody;
  for (std::size_t t = 0; t < waits_for.size(); ++t) {
    if (edges.predecessors[t] == 0) continue;
    start = t;
    for (auto const after : edges.successors[t]) waits_for[after] = t;
  }
  std::vector<bool> seen(waits_for.size(), false);
  while (!seen[start]) {
    seen[start] = true;
    start = waits_for[start];
  }
  std::vector<std::size_t> cycle{start};
  for (auto t = waits_for[start]; t != start; t = waits_for[t]) cycle.push_back(t);
  std::ranges::reverse(cycle);
  return cycle;
}

std::string describe_cycle(workloads::TaskGraphDescription const& graph, std::vector<std::size_t> const& cycle) {
  constexpr std::size_t most_shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), most_shown); ++i) text += graph.describe(cycle[i]) + " -> ";
  if (cycle.size() > most_shown) text += "... (" + std::to_string(cycle.size() - most_shown) + " more) -> ";
  return text + graph.describe(cycle.front());
}

}  // namespace

std::vector<std::size_t> submission_order(workloads::TaskGraphDescription const& graph, std::string const& origin) {
  auto edges = edges_of(graph);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    if (edges.predecessors[t] == 0) ready.push(t);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    auto const task = ready.top();
    ready.pop();
    order.push_back(task);
    for (auto const after : edges.successors[task]) {
      if (--edges.predecessors[after] == 0) ready.push(after);
    }
  }
  if (order.size() < graph.tasks.size()) {
    throw InvalidArgument(origin + ": tasks wait for each other: " + describe_cycle(graph, find_cycle(edges)));
  }
  return order;
}

}  // namespace granary::detail
