// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/longest_path.hpp>

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
  ChainEnd before;        // of the last writer; of a run of tasks that commute, or of the readers before one
  ChainEnd since;         // of the reader, or the task that commutes, that ends last since then
  bool commutes = false;  // the tasks since then do
};

// True if the access does not join the tasks since then, but follows them.
bool follows(DatumHistory const& history, detail::AccessMode mode) {
  return history.since.task != nobody && ((writes(mode) && !commutes(mode)) || history.commutes != commutes(mode));
}

}  // namespace

detail::LongestPath longest_path(detail::GraphRecorder const& graph, std::span<std::uint32_t const> class_of,
                                 std::span<double const> time_of_class) {
  auto const& tasks = graph.tasks();
  std::vector<DatumHistory> histories(graph.data().size());
  std::vector<std::size_t> before(tasks.size(), nobody);
  ChainEnd last;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    detail::AccessList const accesses(graph.accesses_of(tasks[t]));
    ChainEnd start;
    for (auto const& access : accesses) {
      auto const& history = histories[access.data.index()];
      if (access.repeated) continue;
      lengthen(start, history.before);
      if (follows(history, access.mode)) lengthen(start, history.since);
    }
    before[t] = start.task;
    ChainEnd const end{start.time + time_of_class[class_of[t]], t};
    for (auto const& access : accesses) {
      auto& history = histories[access.data.index()];
      if (access.repeated) continue;
      if (writes(access.mode) && !commutes(access.mode)) {
        history = {end, {}};
        continue;
      }
      if (follows(history, access.mode)) history = {history.since, {}};
      history.commutes = commutes(access.mode);
      lengthen(history.since, end);
    }
    lengthen(last, end);
  }
  detail::LongestPath path{last.time, {}};
  for (auto t = last.task; t != nobody; t = before[t]) path.tasks.push_back(t);
  std::ranges::reverse(path.tasks);
  return path;
}

}  // namespace granary
