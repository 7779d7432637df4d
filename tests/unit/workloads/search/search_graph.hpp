// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/schedules/search/list_schedule.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace granary::search_test {

/// Nanoseconds by codelet's name, on CPU cores and on devices; negative: cannot run.
using Times = std::map<std::string, std::array<int, 2>>;

inline detail::KernelTime times_of(Times times) {
  return [times = std::move(times)](detail::Codelet const& codelet, double,
                                    detail::Worker const& worker) -> std::optional<Duration> {
    auto const time = times.at(codelet.name)[static_cast<std::size_t>(worker.kind)];
    return time < 0 ? std::nullopt : std::optional(Duration(time));
  };
}

/// Cores of one memory and devices with a memory each.
inline detail::Machine cores_and_devices(std::uint32_t cores, std::uint32_t devices) {
  detail::Machine machine;
  machine.add_node({.name = "host"});
  for (std::uint32_t c = 0; c < cores; ++c) machine.add_worker({.name = "core", .node = NodeId(0)});
  for (std::uint32_t d = 0; d < devices; ++d) {
    auto const node = machine.add_node({.name = "device", .kind = detail::NodeKind::Device});
    machine.add_worker({.name = "device", .node = node, .kind = detail::WorkerKind::Device});
  }
  return machine;
}

/// A recorder with a shorthand: codelets and data are created when first named.
struct Graph {
  detail::GraphRecorder recorder;
  std::map<std::string, detail::CodeletId> codelets;
  std::map<int, DataId> data;

  void task(std::string const& codelet, std::vector<std::pair<int, detail::AccessMode>> const& accesses) {
    if (!codelets.contains(codelet)) {
      auto const no_kernel = [](detail::KernelCall const&) {};
      codelets[codelet] = recorder.add_codelet({.name = codelet, .kernels = {no_kernel, no_kernel}});
    }
    std::vector<detail::Access> list;
    for (auto const& [datum, mode] : accesses) {
      if (!data.contains(datum)) data[datum] = recorder.add_data({.name = "d", .bytes = 8});
      list.push_back({data[datum], mode});
    }
    recorder.submit({.codelet = codelets[codelet], .accesses = list, .flops = 1});
  }
};

/// Tasks a and b that each read one datum and write another of a few.
inline Graph random_graph(detail::Random& random, int tasks) {
  Graph graph;
  for (int t = 0; t < tasks; ++t) {
    auto const read = static_cast<int>(random.below(6));
    auto const written = static_cast<int>(random.below(6));
    std::vector<std::pair<int, detail::AccessMode>> accesses{{written, detail::AccessMode::ReadWrite}};
    if (read != written) accesses.emplace_back(read, detail::AccessMode::Read);
    graph.task(random.chance(0.5) ? "a" : "b", accesses);
  }
  return graph;
}

/// What is wrong with a schedule of a plan; empty if nothing is.
inline std::string fault_of(search::ListProblem const& problem, search::ListPlan const& plan,
                            search::ListTimes const& times, Duration::rep makespan) {
  auto const end = [&](std::uint32_t task) { return times.starts[task] + problem.time(task, plan.classes[task]); };
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_worker;
  Duration::rep latest = 0;
  for (std::uint32_t task = 0; task < problem.tasks(); ++task) {
    auto const name = "task " + std::to_string(task);
    if (problem.class_of(times.workers[task]) != plan.classes[task]) return name + " is on another class";
    for (auto const next : problem.successors(task)) {
      if (times.starts[next] < end(task)) return name + " ends after its successor " + std::to_string(next);
    }
    by_worker[times.workers[task]].push_back(task);
    latest = std::max(latest, end(task));
  }
  if (latest != makespan) return "the makespan is not the end of the last task";
  for (auto& [worker, tasks] : by_worker) {
    std::ranges::sort(tasks, {}, [&](std::uint32_t task) { return std::pair(times.starts[task], end(task)); });
    for (std::size_t t = 1; t < tasks.size(); ++t) {
      if (times.starts[tasks[t]] < end(tasks[t - 1])) return "worker " + std::to_string(worker) + " runs two at once";
    }
  }
  return {};
}

}  // namespace granary::search_test
