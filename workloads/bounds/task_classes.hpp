// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/graph_recorder.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/workloads/bounds/bounds.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Tasks that a bound need not tell apart: one codelet, one number of operations, the same paths.
struct TaskClass {
  static constexpr double cannot_run = -1;
  std::vector<double> times;         ///< nanoseconds by class of workers, or cannot_run
  double tasks = 0;                  ///< how many
  std::vector<std::uint32_t> paths;  ///< the paths that hold them all; the class' other tasks are on none of these
  /// The least of the times, nanoseconds.
  [[nodiscard]] double fastest() const;
};

/// A graph's tasks and a machine's workers, each sorted into classes.
struct TaskClasses {
  /// Throws InvalidArgument when a time or a number of operations is negative or not a number, or when no worker can
  /// run a task.
  TaskClasses(GraphRecorder const& graph, Machine const& machine, KernelTime const& kernel_time);
  /// Rounds times down, to as many bits as leave at most `most` classes (or to 1), and merges classes that are then
  /// alike: with b bits, times lose less than 2^(1-b) of their value. Nothing happens to fewer classes. Call it before
  /// there are paths.
  void coarsen(std::size_t most);
  /// Parts the tasks of a new path from their classes; returns the path's number.
  std::uint32_t add_path(std::vector<std::size_t> const& tasks);

  std::vector<std::uint32_t> class_of;  ///< by task
  std::vector<TaskClass> classes;
  std::vector<double> workers;  ///< how many, by class of workers: those that take equal times for every task
  std::uint32_t paths = 0;

 private:
  void merge_alike(int bits);
};

}  // namespace granary

#pragma GCC visibility pop
