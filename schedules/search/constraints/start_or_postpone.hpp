// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gecode/int.hh>

#include <cstdint>
#include <vector>

namespace granary {

/// Data that all nodes of a search share: the problem in steps of the solver's time.
struct ConstraintData {
  int tasks = 0;
  int classes = 0;
  std::vector<int> workers;              ///< by class
  std::vector<int> times;                ///< by task and class; negative: cannot run
  std::vector<long long> bottom_levels;  ///< by task: the shortest time from its start to the end of the graph

  [[nodiscard]] std::size_t at(int task, int worker_class) const {
    return static_cast<std::size_t>(task) * static_cast<std::size_t>(classes) + static_cast<std::size_t>(worker_class);
  }
};

/// Branches over classes and starts as described at constraint_search(). `on` is by task and class. The data must
/// outlive the search.
void start_or_postpone(Gecode::Home home, ConstraintData const& data, Gecode::IntVarArgs const& starts,
                       Gecode::BoolVarArgs const& on);

}  // namespace granary
