// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constraint_schedule.hpp"

#include <granary/policies/registry.hpp>

#include <memory>
#include <utility>

#include "plan_policy.hpp"

namespace granary::app {

ConstraintSchedule constraint_schedule(ProblemRuns const& problem, ConstraintOptions const& options) {
  auto const model = problem.list_problem(ListProblem::Classes::BySpeed);
  auto const found = constraint_search(model, options);
  ConstraintSchedule result{.schedule = {}, .nodes = found.nodes, .complete = found.complete};
  if (!found.plan) return result;
  for (auto const order : {PlanPolicy::Order::AsReady, PlanPolicy::Order::Strict}) {
    auto policy = std::make_unique<PlanPolicy>(model, *found.plan, problem.platform().home_node(), order);
    auto schedule = problem.run({std::move(policy), make_eviction("lru")});
    if (!result.schedule || schedule.makespan < result.schedule->makespan) result.schedule = std::move(schedule);
  }
  return result;
}

}  // namespace granary::app
