// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary::search {

/// A task graph and a machine without memory and transfers, for list scheduling: which tasks wait for which, and how
/// long each takes on each class of workers. The workers of a class are alike.
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::GraphRecorder graph;
/// granary::workloads::TiledCholesky({.tiles = 10}).submit(graph, {granary::NodeId(0)});
/// granary::Machine machine;
/// auto const host = machine.add_node({.name = "host"});
/// for (int i = 0; i < 4; ++i) machine.add_worker({.name = "core", .node = host});
/// auto const second = [](granary::Codelet const&, double, granary::Worker const&) {
///   return std::optional<granary::Duration>(std::chrono::seconds(1));
/// };
/// granary::search::ListProblem const problem(graph, machine, second);
/// assert(problem.tasks() == 220 && problem.classes().size() == 1);
/// ```
class GRANARY_EXPORT ListProblem {
 public:
  struct WorkerClass {
    std::vector<std::uint32_t> workers;  ///< their numbers in the machine
  };
  static constexpr Duration::rep cannot_run = -1;

  /// Of workers that are equally fast, those with different memories are one class or, for schedulers that know of
  /// transfers, several.
  enum class Classes : std::uint8_t { BySpeed, BySpeedAndMemory };

  /// Throws InvalidArgument if no worker can run a task. Tasks that commute on a datum are ordered as submitted. Costs
  /// O(tasks · classes + edges).
  ListProblem(detail::GraphRecorder const& graph, detail::Machine const& machine, detail::KernelTime const& kernel_time,
              Classes classes = Classes::BySpeed);

  [[nodiscard]] std::uint32_t tasks() const { return static_cast<std::uint32_t>(m_predecessors.size()); }
  [[nodiscard]] std::vector<WorkerClass> const& classes() const { return m_classes; }
  /// The time of the task on a worker of the class in nanoseconds, or `cannot_run`.
  [[nodiscard]] Duration::rep time(std::uint32_t task, std::size_t worker_class) const {
    return m_times[task * m_classes.size() + worker_class];
  }
  [[nodiscard]] bool runs_on(std::uint32_t task, std::size_t worker_class) const {
    return time(task, worker_class) != cannot_run;
  }
  /// The tasks that wait for this one.
  [[nodiscard]] std::span<std::uint32_t const> successors(std::uint32_t task) const {
    return std::span(m_successors).subspan(m_first[task], m_first[task + 1] - m_first[task]);
  }
  /// The class of a worker of the machine.
  [[nodiscard]] std::uint32_t class_of(std::size_t worker) const { return m_class_of[worker]; }
  /// By task: for how many others it waits.
  [[nodiscard]] std::vector<std::uint32_t> const& predecessors() const { return m_predecessors; }

 private:
  void link(detail::GraphRecorder const& graph);

  std::vector<WorkerClass> m_classes;
  std::vector<std::uint32_t> m_class_of;  // by worker
  std::vector<Duration::rep> m_times;     // by task and class
  std::vector<std::uint32_t> m_predecessors;
  std::vector<std::uint32_t> m_first;  // of m_successors, by task
  std::vector<std::uint32_t> m_successors;
};

}  // namespace granary::search
