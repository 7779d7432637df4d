// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/workloads/bounds/longest_path.hpp>

#include <algorithm>

namespace granary {

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// The end time of a path and its last task.
struct ChainEnd {
  double time = 0;
  std::size_t task = nobody;
};

void lengthen(ChainEnd& end, ChainEnd const& other) {
  if (other.task != nobody && (end.task == nobody || other.time > end.time)) end = other;
}

struct DatumHistory {
  ChainEnd written;  // of the last writer
  ChainEnd read;     // of the reader since then that ends last
};

}  // namespace

LongestPath longest_path(GraphRecorder const& graph, std::span<std::uint32_t const> class_of,
                         std::span<double const> time_of_class) {
  auto const& tasks = graph.tasks();
  std::vector<DatumHistory> histories(graph.data().size());
  std::vector<std::size_t> before(tasks.size(), nobody);
  ChainEnd last;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    auto const accesses = graph.accesses_of(tasks[t]);
    ChainEnd start;
    for (auto const& access : accesses) {
      auto const& history = histories[access.data.index()];
      lengthen(start, history.written);
      if (writes(access.mode)) lengthen(start, history.read);
    }
    before[t] = start.task;
    ChainEnd const end{start.time + time_of_class[class_of[t]], t};
    // Writes last: a datum may be in the list twice.
    for (auto const& access : accesses) lengthen(histories[access.data.index()].read, end);
    for (auto const& access : accesses) {
      if (writes(access.mode)) histories[access.data.index()] = {end, {}};
    }
    lengthen(last, end);
  }
  LongestPath path{last.time, {}};
  for (auto t = last.task; t != nobody; t = before[t]) path.tasks.push_back(t);
  std::ranges::reverse(path.tasks);
  return path;
}

}  // namespace granary
