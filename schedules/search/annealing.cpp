// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/schedules/search/annealing.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace granary::search {
namespace {

class Annealing {
 public:
  Annealing(ListProblem const& problem, PlanScheduler& scheduler, ListPlan const& first,
            AnnealingOptions const& options)
      : m_problem(problem), m_scheduler(scheduler), m_options(options), m_random(options.seed), m_plan(first) {}

  AnnealingResult run() {
    auto current = m_scheduler.schedule(m_plan);
    find_chain();
    AnnealingResult best{m_plan, Duration(current), 1};
    double const scale = static_cast<double>(current);
    for (; !ended(best); ++best.evaluations) {
      Undo const undo = move();
      auto const next = m_scheduler.schedule(m_plan);
      double const worse = static_cast<double>(next - current) / scale;
      if (worse > 0 && m_random.uniform() >= std::exp(-worse / m_temperature)) {
        take_back(undo);
        continue;
      }
      current = next;
      find_chain();
      if (Duration(next) >= best.makespan) continue;
      best.plan = m_plan;
      best.makespan = Duration(next);
    }
    return best;
  }

 private:
  struct Undo {
    std::uint32_t task;
    double priority;
    std::uint32_t worker_class;
  };

  bool ended(AnnealingResult const& best) {
    auto const& [time, evaluations] = m_options.limit;
    if (evaluations && best.evaluations >= *evaluations) return true;
    // Each time: an evaluation may be a simulation of seconds.
    double share = 0;
    if (time) {
      std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - m_start;
      if (elapsed >= *time) return true;
      share = elapsed / *time;
    }
    if (evaluations) share = std::max(share, static_cast<double>(best.evaluations) / static_cast<double>(*evaluations));
    m_temperature = m_options.hot * std::pow(m_options.cold / m_options.hot, share);
    return m_options.progress && !m_options.progress(share, best.makespan);
  }

  // The tasks that determine the makespan, each the cause of the next.
  void find_chain() {
    auto const& times = m_scheduler.times();
    m_chain.clear();
    for (auto task = times.last;; task = times.causes[task]) {
      m_chain.push_back({task, times.causes[task]});
      if (times.causes[task] == task) return;
    }
  }

  Undo move() {
    if (m_random.chance(0.5)) {
      auto const [task, cause] = m_chain[m_random.below(m_chain.size())];
      Undo const undo{task, m_plan.priorities[task], m_plan.classes[task]};
      if (m_random.chance(0.3))
        change_class(task);
      else
        overtake(task, cause);
      return undo;
    }
    auto const task = static_cast<std::uint32_t>(m_random.below(m_problem.tasks()));
    Undo const undo{task, m_plan.priorities[task], m_plan.classes[task]};
    if (m_random.chance(0.5))
      change_class(task);
    else
      overtake(task, static_cast<std::uint32_t>(m_random.below(m_problem.tasks())));
    return undo;
  }

  void change_class(std::uint32_t task) {
    auto const count = m_problem.classes().size();
    auto const other = static_cast<std::uint32_t>(m_random.below(count));
    if (m_problem.runs_on(task, other)) m_plan.classes[task] = other;
  }

  // Just before or behind the other one.
  void overtake(std::uint32_t task, std::uint32_t other) {
    double const step = std::max(1.0, std::abs(m_plan.priorities[other])) * 1e-9;
    m_plan.priorities[task] = m_plan.priorities[other] + (m_random.chance(0.5) ? step : -step) * m_random.uniform();
  }

  void take_back(Undo const& undo) {
    m_plan.priorities[undo.task] = undo.priority;
    m_plan.classes[undo.task] = undo.worker_class;
  }

  ListProblem const& m_problem;
  PlanScheduler& m_scheduler;
  AnnealingOptions const& m_options;
  detail::Random m_random;
  ListPlan m_plan;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_chain;  // tasks and their causes
  double m_temperature = 0;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace

AnnealingResult anneal(ListProblem const& problem, PlanScheduler& scheduler, ListPlan const& first,
                       AnnealingOptions const& options) {
  if (!options.limit.time && !options.limit.evaluations)
    throw InvalidArgument("a search needs a limit of time or of evaluations");
  if (problem.tasks() == 0) throw InvalidArgument("a search needs a graph with tasks");
  if (first.priorities.size() != problem.tasks() || first.classes.size() != problem.tasks()) {
    throw InvalidArgument("the plan has " + std::to_string(first.priorities.size()) + " priorities and " +
                          std::to_string(first.classes.size()) + " classes, and the graph " +
                          std::to_string(problem.tasks()) + " tasks");
  }
  for (std::uint32_t task = 0; task < problem.tasks(); ++task) {
    if (first.classes[task] < problem.classes().size() && problem.runs_on(task, first.classes[task])) continue;
    throw InvalidArgument("task " + std::to_string(task) + " cannot run on class " +
                          std::to_string(first.classes[task]) + " of the workers");
  }
  return Annealing(problem, scheduler, first, options).run();
}

}  // namespace granary::search
