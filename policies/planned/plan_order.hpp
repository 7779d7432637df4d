// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/policies/planned/find_order.hpp>
#include <granary/detail/policies/planned/plan_state.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// Finds the orders of the plans of `planned`, and how many tasks are fetched ahead.
class PlanOrder {
 public:
  struct Options {
    std::uint64_t effort = 1500;  ///< OrderProblem::effort
    std::int64_t ahead = -1;      ///< tasks that groups may be ahead; negative: by memory
  };
  PlanOrder(PlanState const& state, Options const& options) : m_state(state), m_options(options) {}

  /// An order of these tasks, which are in the order of submission. About 5 µs for each.
  [[nodiscard]] FoundOrder find(std::vector<TaskId> const& tasks);
  /// The graph of the tasks of `find`, until `drop_graph`.
  [[nodiscard]] OrderGraph const& graph() const { return m_graph; }
  void drop_graph() { m_graph = {}; }
  /// True if all data of the last plan fit in the memory.
  [[nodiscard]] bool fits() const { return m_fits; }
  /// The number of tasks for which a memory of this size has data ahead.
  [[nodiscard]] std::uint64_t ahead_of(Bytes memory) const;

 private:
  static constexpr std::uint64_t most_ahead_by_memory = 64;

  void read_graph(std::vector<TaskId> const& tasks);
  [[nodiscard]] bool elsewhere(TaskId task) const;
  [[nodiscard]] FoundOrder by_speed(std::vector<TaskId> const& tasks);
  [[nodiscard]] FoundOrder by_traffic(std::vector<TaskId> const& tasks) const;
  [[nodiscard]] FoundOrder by_priority(std::vector<TaskId> const& tasks) const;
  [[nodiscard]] double kernel_seconds(std::vector<TaskId> const& tasks) const;
  [[nodiscard]] double least_side(std::vector<TaskId> const& tasks) const;

  PlanState const& m_state;
  Options m_options;
  OrderGraph m_graph;
  Bytes m_data_bytes = 0;                             // of m_graph
  Bytes m_mean_bytes = 1;                             // of a datum of the last plan
  bool m_fits = true;                                 // all data of the last plan
  std::uint64_t m_most_ahead = most_ahead_by_memory;  // tasks of the last plan that are fetched ahead
  double m_seconds_per_byte = 0;                      // of data that had to be loaded, at the last plan
};

}  // namespace granary::detail
