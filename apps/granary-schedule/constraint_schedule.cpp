// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constraint_schedule.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace granary::app {
namespace {

// The workers of each class start its tasks in the order of the priorities, and wait for them if need be.
search::ListTimes in_order(search::ListProblem const& problem, search::ListPlan const& plan) {
  std::vector<std::uint32_t> order(problem.tasks());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t task) { return plan.priorities[task]; });
  search::ListTimes times{.starts = std::vector<Duration::rep>(order.size()),
                          .workers = std::vector<std::uint32_t>(order.size()),
                          .causes = {}};
  std::vector<std::vector<Duration::rep>> free;
  for (auto const& its : problem.classes()) free.emplace_back(its.workers.size());
  for (auto const task : order) {
    auto const its = plan.classes[task];
    auto const first = std::ranges::min_element(free[its]);
    times.starts[task] = std::max(times.starts[task], *first);
    times.workers[task] = problem.classes()[its].workers[static_cast<std::size_t>(first - free[its].begin())];
    *first = times.starts[task] + problem.time(task, its);
    for (auto const next : problem.successors(task)) times.starts[next] = std::max(times.starts[next], *first);
  }
  return times;
}

}  // namespace

ConstraintSchedule constraint_schedule(ProblemRuns const& problem, ConstraintOptions const& options) {
  auto const model = problem.list_problem(search::ListProblem::Classes::BySpeed);
  auto const found = constraint_search(model, options);
  ConstraintSchedule result{.schedule = {}, .nodes = found.nodes, .complete = found.complete};
  if (!found.plan) return result;
  search::ListScheduler list(model);
  list.schedule(*found.plan);
  for (auto const& times : {in_order(model, *found.plan), list.times()}) {
    auto schedule = problem.placed(times, *found.plan, model);
    schedule = with_makespan(schedule, problem.follow(schedule).makespan);
    if (!result.schedule || schedule.makespan < result.schedule->makespan) result.schedule = std::move(schedule);
  }
  return result;
}

}  // namespace granary::app
