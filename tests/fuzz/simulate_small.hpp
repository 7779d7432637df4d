// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/priorities.hpp>
#include <granary/detail/workloads/workload.hpp>

#include "apps/simulation/simulated_run.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

using namespace detail;

/// Simulates a graph on a platform, like granary-simulate. Throws what that throws.
inline void simulate_small(workloads::Workload const& workload, Platform const& platform,
                           std::string const& scheduler) {
  constexpr std::size_t most_tasks = 200;
  constexpr std::size_t most_workers = 64;
  auto const graph = app::record(workload, platform, Precision::Double);
  if (graph.tasks().size() > most_tasks || platform.machine.workers.size() > most_workers) return;
  app::require_countable_time(graph, platform, Precision::Double);
  app::RunSettings settings;
  settings.scheduler = scheduler;
  settings.eviction = default_eviction(scheduler);
  auto const priorities = app::priorities_of(graph, platform, Precision::Double, settings);
  app::Case const problem{platform, workload, Precision::Double, &priorities, graph.tasks().size()};
  auto const figures = app::simulate(problem, settings);
  if (!(figures.seconds >= 0)) fail("a run took " + std::to_string(figures.seconds) + " s");
}

}  // namespace granary::fuzz
