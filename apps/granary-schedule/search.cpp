// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace granary::app {

using namespace detail;

namespace {

// Transfers matter if a simulated schedule takes longer than without them by more than this factor.
constexpr double same_without_transfers = 1.01;
// The part of the search without transfers if they matter.
constexpr double share_without_transfers = 0.3;
// Of that part: from the bottom levels, from the first schedule, and from the better result of both. The later ones
// start colder, since they improve what is good already.
constexpr std::array shares{0.5, 0.25, 0.25};
constexpr std::array hot{1e-2, 3e-3, 2e-3};
constexpr double hot_with_transfers = 2e-3;

// Starts the tasks in the order of the schedule, on workers of the same classes.
search::ListPlan plan_of(Schedule const& schedule, search::ListProblem const& problem) {
  search::ListPlan plan;
  for (auto const& task : schedule.tasks) {
    plan.priorities.push_back(-static_cast<double>(task.rank));
    plan.classes.push_back(problem.class_of(task.worker));
  }
  return plan;
}

// Each task on its fastest class; the longest path to the end of the graph first.
search::ListPlan plan_by_bottom_levels(search::ListProblem const& problem) {
  search::ListPlan plan{std::vector<double>(problem.tasks()), std::vector<std::uint32_t>(problem.tasks())};
  for (auto task = problem.tasks(); task-- > 0;) {
    double below = 0;
    for (auto const next : problem.successors(task)) below = std::max(below, plan.priorities[next]);
    Duration::rep fastest = search::ListProblem::cannot_run;
    for (std::uint32_t c = 0; c < problem.classes().size(); ++c) {
      auto const time = problem.time(task, c);
      if (time == search::ListProblem::cannot_run || (fastest != search::ListProblem::cannot_run && time >= fastest))
        continue;
      fastest = time;
      plan.classes[task] = c;
    }
    plan.priorities[task] = below + static_cast<double>(fastest);
  }
  return plan;
}

// List schedules without transfers, followed in the simulator with them.
class FollowedPlans final : public search::PlanScheduler {
 public:
  FollowedPlans(ProblemRuns const& runs, search::ListProblem const& problem)
      : m_runs(runs), m_list(problem), m_problem(problem) {}

  Duration::rep schedule(search::ListPlan const& plan) override {
    m_list.schedule(plan);
    m_schedule = m_runs.placed(m_list.times(), plan, m_problem);
    return follow().count();
  }
  /// The same for a schedule.
  Duration follow(Schedule schedule) {
    m_schedule = std::move(schedule);
    return follow();
  }
  /// The latest one with the times that were simulated; it is not followed again.
  [[nodiscard]] Schedule with_simulated_times() const {
    auto schedule = m_schedule;
    for (std::size_t i = 0; i < schedule.tasks.size(); ++i) schedule.tasks[i].start = m_starts[i];
    return schedule;
  }
  [[nodiscard]] search::ListTimes const& times() const override { return m_times; }
  /// The latest one.
  [[nodiscard]] Schedule const& schedule() const { return m_schedule; }

 private:
  Duration follow() {
    auto const run = m_runs.follow(m_schedule);
    m_schedule = with_makespan(std::move(m_schedule), run.makespan);
    m_starts.clear();
    for (auto const& task : run.tasks) m_starts.push_back(task.start);
    find_causes(run);
    return run.makespan;
  }

  // A task's cause is what ended last of its predecessors and the task before it on its worker.
  void find_causes(Schedule const& run) {
    auto const& tasks = run.tasks;
    auto const end = [&](std::uint32_t task) { return tasks[task].start + tasks[task].duration; };
    m_times.causes.resize(tasks.size());
    std::iota(m_times.causes.begin(), m_times.causes.end(), 0U);
    std::vector<Duration> latest(tasks.size());
    auto const follows = [&](std::uint32_t task, std::uint32_t cause) {
      if (cause == task || end(cause) > tasks[task].start || end(cause) <= latest[task]) return;
      latest[task] = end(cause);
      m_times.causes[task] = cause;
    };
    std::vector<std::uint32_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t task) { return std::pair(tasks[task].start, tasks[task].rank); });
    constexpr std::uint32_t none = 0xffffffffU;
    std::vector<std::uint32_t> before(run.workers.size(), none);
    m_times.last = order.empty() ? 0 : order.front();
    for (auto const task : order) {
      auto& previous = before[tasks[task].worker];
      if (previous != none) follows(task, previous);
      previous = task;
      for (auto const next : m_problem.successors(task)) follows(next, task);
      if (end(task) >= end(m_times.last)) m_times.last = task;
    }
  }

  ProblemRuns const& m_runs;
  search::ListScheduler m_list;
  search::ListProblem const& m_problem;
  Schedule m_schedule;
  std::vector<Duration> m_starts;  // that were simulated
  search::ListTimes m_times;
};

// One search of several phases.
class Search {
 public:
  Search(ProblemRuns const& runs, Schedule const& first, SearchOptions const& options)
      : m_runs(runs), m_options(options), m_first(first) {}

  SearchResult run() {
    auto const by_speed = m_runs.list_problem(search::ListProblem::Classes::BySpeed);
    search::ListScheduler without_transfers(by_speed);
    FollowedPlans followed(m_runs, by_speed);
    followed.follow(m_first);
    m_result.schedule = followed.schedule();
    keep(followed);
    repair(followed);
    auto const plan = plan_of(m_result.schedule, by_speed);
    auto const alone = static_cast<double>(without_transfers.schedule(plan));
    m_result.transfers = static_cast<double>(followed.schedule(plan)) > same_without_transfers * alone;
    keep(followed);

    m_end = 0;
    double const share = m_result.transfers ? share_without_transfers : 1;
    auto const levels =
        search_from(by_speed, without_transfers, plan_by_bottom_levels(by_speed), share * shares[0], hot[0]);
    auto const refined = search_from(by_speed, without_transfers, plan, share * shares[1], hot[1]);
    for (auto const& found : {levels, refined}) {
      followed.schedule(found.plan);
      keep(followed);
    }
    auto const& better = levels.makespan < refined.makespan ? levels : refined;
    auto const best = search_from(by_speed, without_transfers, better.plan, share * shares[2], hot[2]);
    followed.schedule(best.plan);
    keep(followed);
    if (m_result.transfers) {
      auto const by_memory = m_runs.list_problem(search::ListProblem::Classes::BySpeedAndMemory);
      FollowedPlans transfers(m_runs, by_memory);
      auto const last =
          search_from(by_memory, transfers, plan_of(m_result.schedule, by_memory), 1 - share, hot_with_transfers);
      transfers.schedule(last.plan);
      keep(transfers);
    }
    repair(followed);
    return std::move(m_result);
  }

 private:
  // In the next part of the search; at once if the user has ended it.
  search::AnnealingResult search_from(search::ListProblem const& problem, search::PlanScheduler& scheduler,
                                      search::ListPlan const& plan, double share, double temperature) {
    search::AnnealingOptions options;
    options.limit = m_options.limit;
    if (auto& time = options.limit.time) *time *= share;
    if (auto& evaluations = options.limit.evaluations)
      evaluations = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(*evaluations) * share));
    options.seed = m_options.seed;
    options.hot = temperature;
    options.progress = [this, begin = m_end, share](double part, Duration best) {
      if (m_goes_on && m_options.progress) {
        m_goes_on = m_options.progress(begin + part * share, std::min(best, m_result.schedule.makespan));
      }
      return m_goes_on;
    };
    m_end += share;
    auto result = anneal(problem, scheduler, plan, options);
    m_result.evaluations += result.evaluations;
    return result;
  }

  // Lets the scheduler leave the best schedule where workers would idle, until that changes the makespan no more.
  void repair(FollowedPlans& followed) {
    for (Duration before{-1}; m_goes_on && before != m_result.schedule.makespan;) {
      before = m_result.schedule.makespan;
      followed.follow(m_runs.follow(m_result.schedule, "the schedule", StaticScheduler::Repair::Auto));
      keep(followed);
    }
  }

  // The latest schedule if it is better. The simulated times also decide which of two workers is served first, so that
  // following them may end a little earlier or later.
  void keep(FollowedPlans& followed) {
    for (int times = 0; times < 2; ++times) {
      if (followed.schedule().makespan < m_result.schedule.makespan) m_result.schedule = followed.schedule();
      followed.follow(followed.with_simulated_times());
    }
    if (followed.schedule().makespan <= m_result.schedule.makespan) m_result.schedule = followed.schedule();
  }

  ProblemRuns const& m_runs;
  SearchOptions const& m_options;
  Schedule const& m_first;
  SearchResult m_result;
  double m_end = 0;  // of the parts so far
  bool m_goes_on = true;
};

}  // namespace

SearchResult search(ProblemRuns const& problem, Schedule const& first, SearchOptions const& options) {
  return Search(problem, first, options).run();
}

}  // namespace granary::app
