// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search.hpp"

#include <granary/policies/registry.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan_policy.hpp"

namespace granary::app {
namespace {

// Transfers matter if a simulated schedule takes longer than without them by more than this factor.
constexpr double same_without_transfers = 1.01;
// The part of the search without transfers if they matter.
constexpr double share_without_transfers = 0.3;
// A simulation knows the neighbourhood of a good schedule better: it starts colder.
constexpr double hot_with_transfers = 2e-3;

// The plan that starts the tasks in the order of the schedule.
ListPlan plan_of(Schedule const& schedule, ListProblem const& problem) {
  ListPlan plan;
  for (auto const& task : schedule.tasks) {
    plan.priorities.push_back(-static_cast<double>(task.rank));
    plan.classes.push_back(problem.class_of(task.worker));
  }
  return plan;
}

// Schedules of plans in the simulator.
class SimulatedPlans final : public PlanScheduler {
 public:
  SimulatedPlans(ProblemRuns const& runs, ListProblem const& problem) : m_runs(runs), m_problem(problem) {}

  Duration::rep schedule(ListPlan const& plan) override {
    auto const& platform = m_runs.platform();
    auto policy = std::make_unique<PlanPolicy>(m_problem, plan, platform.home_node());
    m_schedule = m_runs.run({std::move(policy), make_eviction("lru")});
    find_causes();
    return m_schedule.makespan.count();
  }
  [[nodiscard]] ListTimes const& times() const override { return m_times; }
  /// The latest one.
  [[nodiscard]] Schedule const& schedule() const { return m_schedule; }

 private:
  void find_causes() {
    auto const& tasks = m_schedule.tasks;
    m_times.causes.resize(tasks.size());
    std::iota(m_times.causes.begin(), m_times.causes.end(), 0U);
    m_times.last = 0;
    std::vector<Duration> latest(tasks.size());  // the end of the cause
    auto const follows = [&](std::uint32_t task, std::uint32_t cause) {
      auto const end = tasks[cause].start + tasks[cause].duration;
      if (end > tasks[task].start || end <= latest[task]) return;
      latest[task] = end;
      m_times.causes[task] = cause;
    };
    std::vector<std::uint32_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t task) { return std::pair(tasks[task].start, tasks[task].rank); });
    std::vector<std::optional<std::uint32_t>> before(m_schedule.workers.size());
    Duration last{0};
    for (auto const task : order) {
      auto& previous = before[tasks[task].worker];
      if (previous) follows(task, *previous);
      previous = task;
      for (auto const next : m_problem.successors(task)) follows(next, task);
      auto const end = tasks[task].start + tasks[task].duration;
      if (end >= last) {
        last = end;
        m_times.last = task;
      }
    }
  }

  ProblemRuns const& m_runs;
  ListProblem const& m_problem;
  Schedule m_schedule;
  ListTimes m_times;
};

SearchLimit part(SearchLimit limit, double share) {
  if (limit.time) *limit.time *= share;
  if (limit.evaluations)
    limit.evaluations =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(*limit.evaluations) * share));
  return limit;
}

// One search of several phases.
class Search {
 public:
  Search(ProblemRuns const& runs, Schedule const& first, SearchOptions const& options)
      : m_runs(runs), m_options(options), m_result{.schedule = first} {}

  SearchResult run() {
    auto const by_speed = m_runs.list_problem(ListProblem::Classes::BySpeed);
    auto const plan = plan_of(m_result.schedule, by_speed);
    ListScheduler without_transfers(by_speed);
    SimulatedPlans simulated(m_runs, by_speed);
    auto const alone = static_cast<double>(without_transfers.schedule(plan));
    m_result.simulated = static_cast<double>(simulated.schedule(plan)) > same_without_transfers * alone;
    keep(simulated);
    double const share = m_result.simulated ? share_without_transfers : 1;
    bool const ended = !anneal_with(by_speed, without_transfers, plan, {0, share}, {});
    simulated.schedule(m_best_plan);
    keep(simulated);
    if (!m_result.simulated || ended) return std::move(m_result);

    auto const by_memory = m_runs.list_problem(ListProblem::Classes::BySpeedAndMemory);
    SimulatedPlans transfers(m_runs, by_memory);
    AnnealingOptions colder;
    colder.hot = hot_with_transfers;
    anneal_with(by_memory, transfers, plan_of(m_result.schedule, by_memory), {share, 1}, colder);
    transfers.schedule(m_best_plan);
    keep(transfers);
    return std::move(m_result);
  }

 private:
  struct Span {
    double begin;
    double end;
  };

  // In that part of the search; false if the user ended it.
  bool anneal_with(ListProblem const& problem, PlanScheduler& scheduler, ListPlan const& plan, Span span,
                   AnnealingOptions options) {
    bool goes_on = true;
    options.limit = part(m_options.limit, span.end - span.begin);
    options.seed = m_options.seed;
    options.progress = [&](double share, Duration best) {
      goes_on = !m_options.progress || m_options.progress(span.begin + share * (span.end - span.begin),
                                                          std::min(best, m_result.schedule.makespan));
      return goes_on;
    };
    auto result = anneal(problem, scheduler, plan, options);
    m_best_plan = std::move(result.plan);
    m_result.evaluations += result.evaluations;
    return goes_on;
  }

  void keep(SimulatedPlans const& simulated) {
    if (simulated.schedule().makespan < m_result.schedule.makespan) m_result.schedule = simulated.schedule();
  }

  ProblemRuns const& m_runs;
  SearchOptions const& m_options;
  SearchResult m_result;
  ListPlan m_best_plan;
};

}  // namespace

SearchResult search(ProblemRuns const& problem, Schedule const& first, SearchOptions const& options) {
  return Search(problem, first, options).run();
}

}  // namespace granary::app
