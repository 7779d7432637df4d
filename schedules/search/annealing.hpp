// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/schedules/search/list_schedule.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace granary::search {

/// How long a search may take; the earlier of both ends it. Only searches without a time are repeatable.
struct GRANARY_EXPORT SearchLimit {
  std::optional<std::chrono::duration<double>> time{};
  std::optional<std::uint64_t> evaluations{};  ///< list schedules
};

struct GRANARY_EXPORT AnnealingOptions {
  SearchLimit limit{};
  std::uint64_t seed = 0;
  /// Temperatures at the beginning and at the end, relative to the makespan of the first plan; between them they fall
  /// geometrically.
  double hot = 1e-2;
  double cold = 1e-4;
  /// Called before each list schedule with the share of the limit that is used up and the best makespan so far; the
  /// search ends if it returns false.
  std::function<bool(double share, Duration best)> progress = {};
};

struct GRANARY_EXPORT AnnealingResult {
  ListPlan plan;  ///< the best one
  Duration makespan{0};
  std::uint64_t evaluations = 0;
};

/// Simulated annealing over the priorities and classes of a list schedule (Kirkpatrick, Gelatt, Vecchi, "Optimization
/// by simulated annealing", Science 220, 1983). Half of the moves concern the chain of tasks that determines the
/// makespan: a task of it changes its class, or gets a priority just above or below that of the task for whose worker
/// it waited. Each move costs one list schedule.
///
/// The scheduler makes the schedules: a ListScheduler of this problem, or one that knows more than the problem, such as
/// transfers. Throws InvalidArgument if the limit is empty, the graph has no task, the plan is not of the graph's
/// length, or a class of the plan cannot run its task.
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::GraphRecorder graph;
/// granary::workloads::TiledCholesky({.tiles = 5}).submit(graph, {granary::NodeId(0)});
/// granary::Machine machine;
/// auto const host = machine.add_node({.name = "host"});
/// for (int i = 0; i < 2; ++i) machine.add_worker({.name = "core", .node = host});
/// granary::search::ListProblem const problem(graph, machine, [](auto const&, double flops, auto const&) {
///   return std::optional<granary::Duration>(std::chrono::nanoseconds(static_cast<std::int64_t>(flops)));
/// });
/// std::vector<double> const priorities(problem.tasks());
/// std::vector<std::uint32_t> const classes(problem.tasks());
/// granary::search::ListPlan const as_submitted{priorities, classes};
/// granary::search::ListScheduler scheduler(problem);
/// auto const best = granary::search::anneal(problem, scheduler, as_submitted, {.limit = {.evaluations = 1000}});
/// assert(best.makespan.count() <= scheduler.schedule(as_submitted));
/// ```
[[nodiscard]] GRANARY_EXPORT AnnealingResult anneal(ListProblem const& problem, PlanScheduler& scheduler,
                                                    ListPlan const& first, AnnealingOptions const& options);

}  // namespace granary::search
