// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/kernel_time.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary {

/// Tasks that a bound does not distinguish: same codelet, same number of operations, same paths.
struct GRANARY_EXPORT TaskClass {
  static constexpr double cannot_run = -1;
  std::vector<double> times;         ///< nanoseconds by class of workers, or cannot_run
  double tasks = 0;                  ///< number of tasks
  std::vector<std::uint32_t> paths;  ///< the paths that contain all of them; other paths contain none of them
  /// The minimum of the times, in nanoseconds.
  [[nodiscard]] double fastest() const;
};

/// A graph's tasks and a machine's workers, grouped into classes.
struct GRANARY_EXPORT TaskClasses {
  /// Throws InvalidArgument if a time or a number of operations is negative or NaN, or if no worker can run a task.
  TaskClasses(detail::GraphRecorder const& graph, detail::Machine const& machine,
              detail::KernelTime const& kernel_time);
  /// Rounds times down, to the number of bits that leaves at most `most` classes (or to 1), and merges equal classes:
  /// with b bits, times lose less than 2^(1-b) of their value. Does nothing if there are fewer classes. Call it before
  /// adding paths.
  void coarsen(std::size_t most);
  /// Splits the tasks of a new path off their classes; returns the path's number.
  std::uint32_t add_path(std::vector<std::size_t> const& tasks);

  std::vector<std::uint32_t> class_of;  ///< by task
  std::vector<TaskClass> classes;
  std::vector<double> workers;  ///< number of workers by class: those with equal times for every task
  std::uint32_t paths = 0;

 private:
  void merge_alike(int bits);
};

}  // namespace granary
