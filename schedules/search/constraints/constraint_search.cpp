// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/schedules/search/constraints/constraint_search.hpp>
#include <granary/detail/schedules/search/constraints/start_or_postpone.hpp>

#include <gecode/int.hh>
#include <gecode/minimodel.hh>
#include <gecode/search.hh>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace granary {

using namespace detail;

namespace {

// Largest makespan in units: the end of a task that starts then still fits in Gecode's integers.
constexpr Duration::rep most_units = 500'000'000;
// Of the solver's time in a unit. Its time-tabling lets a task start, until it is tried, on a resource that is full for
// one step only; then postponed tasks would be postponed for ever.
constexpr int steps = 2;
// Copies of the space along a path of the tree, at most about this many: each has all variables and constraints.
constexpr unsigned copies_of_a_path = 64;

Duration::rep slowest(search::ListProblem const& problem, std::uint32_t task) {
  Duration::rep time = 0;
  for (std::size_t c = 0; c < problem.classes().size(); ++c) time = std::max(time, problem.time(task, c));
  return time;
}

Duration::rep divided_up(Duration::rep time, Duration::rep unit) { return time / unit + (time % unit != 0 ? 1 : 0); }

struct Model {
  ConstraintData data;
  Duration::rep unit = 1;  // nanoseconds
  int horizon = 0;         // largest makespan, in steps
  bool possible = true;    // false: no schedule can be so short
};

Model model_of(search::ListProblem const& problem, ConstraintOptions const& options) {
  Model model;
  Duration::rep horizon = 0;
  for (std::uint32_t task = 0; task < problem.tasks(); ++task) horizon += slowest(problem, task);
  if (options.below) horizon = std::min(horizon, options.below->count() - 1);
  model.possible = horizon >= 0;
  horizon = std::max<Duration::rep>(horizon, 0);
  // A schedule of one task after the other, each rounded up, fits too.
  model.unit = std::max<Duration::rep>(1, divided_up(horizon, most_units));
  model.horizon = steps * static_cast<int>(horizon / model.unit);
  if (!options.below) model.horizon += steps * static_cast<int>(problem.tasks());

  auto& data = model.data;
  data.tasks = static_cast<int>(problem.tasks());
  data.classes = static_cast<int>(problem.classes().size());
  for (auto const& one : problem.classes()) data.workers.push_back(static_cast<int>(one.workers.size()));
  data.bottom_levels.resize(problem.tasks());
  data.times.resize(data.at(data.tasks, 0), -1);
  for (auto task = problem.tasks(); task-- > 0;) {
    auto least = static_cast<long long>(model.horizon) + 1;
    for (std::size_t c = 0; c < problem.classes().size(); ++c) {
      if (!problem.runs_on(task, c)) continue;
      // At least 1, since Gecode lets a task without a duration start on a busy worker.
      auto const time = steps * std::max<Duration::rep>(1, divided_up(problem.time(task, c), model.unit));
      if (time > model.horizon) continue;
      data.times[data.at(static_cast<int>(task), static_cast<int>(c))] = static_cast<int>(time);
      least = std::min<long long>(least, time);
    }
    if (least > model.horizon) model.possible = false;
    long long behind = 0;
    for (auto const next : problem.successors(task)) behind = std::max(behind, data.bottom_levels[next]);
    data.bottom_levels[task] = least + behind;
    if (data.bottom_levels[task] > model.horizon) model.possible = false;
  }
  return model;
}

class ScheduleSpace final : public Gecode::IntMinimizeSpace {
 public:
  ScheduleSpace(search::ListProblem const& problem, Model const& model)
      : m_starts(*this, model.data.tasks, 0, model.horizon),
        m_on(*this, model.data.tasks * model.data.classes, 0, 1),
        m_makespan(*this, 0, model.horizon) {
    auto const ends = place(model);
    for (std::uint32_t task = 0; task < problem.tasks(); ++task) {
      auto const t = static_cast<int>(task);
      auto const behind = model.data.bottom_levels[task];
      // The tasks behind it take at least that long.
      rel(*this, m_starts[t], Gecode::IRT_LQ, model.horizon - static_cast<int>(behind));
      if (problem.successors(task).empty()) rel(*this, ends[t], Gecode::IRT_LQ, m_makespan);
      for (auto const next : problem.successors(task))
        rel(*this, ends[t], Gecode::IRT_LQ, m_starts[static_cast<int>(next)]);
    }
    for (int c = 0; c < model.data.classes; ++c) limit_class(model.data, c);
    start_or_postpone(*this, model.data, m_starts, m_on);
    branch(*this, m_makespan, Gecode::INT_VAL_MIN());
  }
  ScheduleSpace(ScheduleSpace& other) : IntMinimizeSpace(other) {
    m_starts.update(*this, other.m_starts);
    m_on.update(*this, other.m_on);
    m_makespan.update(*this, other.m_makespan);
  }

  Gecode::Space* copy() override { return new ScheduleSpace(*this); }
  [[nodiscard]] Gecode::IntVar cost() const override { return m_makespan; }

  [[nodiscard]] search::ListPlan plan(ConstraintData const& data) const {
    search::ListPlan plan;
    for (int task = 0; task < data.tasks; ++task) {
      plan.priorities.push_back(-static_cast<double>(m_starts[task].val()));
      int c = 0;
      while (m_on[static_cast<int>(data.at(task, c))].val() == 0) ++c;
      plan.classes.push_back(static_cast<std::uint32_t>(c));
    }
    return plan;
  }

 private:
  // One class for each task; returns the ends.
  Gecode::IntVarArgs place(Model const& model) {
    auto const& data = model.data;
    Gecode::IntVarArgs ends;
    for (int task = 0; task < data.tasks; ++task) {
      Gecode::BoolVarArgs mine;
      Gecode::IntArgs times;
      int least = model.horizon;
      int most = 0;
      for (int c = 0; c < data.classes; ++c) {
        auto const at = data.at(task, c);
        mine << m_on[static_cast<int>(at)];
        times << std::max(data.times[at], 0);
        if (data.times[at] < 0) {
          rel(*this, m_on[static_cast<int>(at)], Gecode::IRT_EQ, 0);
          continue;
        }
        least = std::min(least, data.times[at]);
        most = std::max(most, data.times[at]);
      }
      linear(*this, mine, Gecode::IRT_EQ, 1);
      Gecode::IntVar const time(*this, least, most);
      linear(*this, times, mine, Gecode::IRT_EQ, time);
      Gecode::IntVar const end(*this, 0, model.horizon);
      rel(*this, m_starts[task] + time == end);
      ends << end;
    }
    return ends;
  }

  // Of the tasks that the class can run.
  void limit_class(ConstraintData const& data, int worker_class) {
    Gecode::IntVarArgs starts;
    Gecode::IntArgs times;
    Gecode::BoolVarArgs mine;
    Gecode::IntArgs ones;
    Gecode::IntVarArgs as_numbers;
    for (int task = 0; task < data.tasks; ++task) {
      auto const at = data.at(task, worker_class);
      if (data.times[at] < 0) continue;
      starts << m_starts[task];
      times << data.times[at];
      mine << m_on[static_cast<int>(at)];
      ones << 1;
      as_numbers << channel(*this, m_on[static_cast<int>(at)]);
    }
    if (times.size() == 0) return;
    auto const workers = data.workers[static_cast<std::size_t>(worker_class)];
    cumulative(*this, workers, starts, times, ones, mine);
    times << -workers;
    as_numbers << m_makespan;
    linear(*this, times, as_numbers, Gecode::IRT_LQ, 0);
  }

  Gecode::IntVarArray m_starts;
  Gecode::BoolVarArray m_on;  // by task and class
  Gecode::IntVar m_makespan;
};

class Limit final : public Gecode::Search::Stop {
 public:
  explicit Limit(ConstraintOptions const& options) : m_options(options) {}

  bool stop(Gecode::Search::Statistics const& statistics, Gecode::Search::Options const&) override {
    auto const& [time, nodes] = m_options.limit;
    double share = 0;
    if (time) {
      std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - m_start;
      if (elapsed >= *time) return true;
      share = elapsed / *time;
    }
    if (nodes) {
      if (statistics.node >= *nodes) return true;
      share = std::max(share, static_cast<double>(statistics.node) / static_cast<double>(*nodes));
    }
    return m_options.progress && !m_options.progress(share, m_best);
  }
  void found(Duration makespan) { m_best = makespan; }

 private:
  ConstraintOptions const& m_options;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  std::optional<Duration> m_best;
};

// Of the schedule in which the workers of a class start its tasks in the order of the plan.
Duration makespan_in_order(search::ListProblem const& problem, search::ListPlan const& plan) {
  std::vector<std::uint32_t> order(problem.tasks());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t task) { return plan.priorities[task]; });
  std::vector<std::vector<Duration::rep>> free;  // by class: since when its workers are idle
  for (auto const& one : problem.classes()) free.emplace_back(one.workers.size());
  std::vector<Duration::rep> ready(problem.tasks());
  Duration::rep makespan = 0;
  for (auto const task : order) {
    auto const c = plan.classes[task];
    auto const worker = std::ranges::min_element(free[c]);
    *worker = std::max(*worker, ready[task]) + problem.time(task, c);
    makespan = std::max(makespan, *worker);
    for (auto const next : problem.successors(task)) ready[next] = std::max(ready[next], *worker);
  }
  return Duration(makespan);
}

}  // namespace

bool have_constraint_search() { return true; }

ConstraintResult constraint_search(search::ListProblem const& problem, ConstraintOptions const& options) {
  if (!options.limit.time && !options.limit.evaluations)
    throw InvalidArgument("a search needs a limit of time or of evaluations");
  if (problem.tasks() == 0) throw InvalidArgument("a search needs a graph with tasks");
  Limit limit(options);
  auto const model = model_of(problem, options);
  ConstraintResult result;
  result.unit = Duration(model.unit);
  result.complete = !model.possible;
  if (!model.possible) return result;

  Gecode::Search::Options how;
  how.stop = &limit;
  how.c_d = std::max(how.c_d, 2 * problem.tasks() / copies_of_a_path);
  how.a_d = std::max(how.a_d, how.c_d / 4);
  how.clone = false;
  Gecode::BAB<ScheduleSpace> search(new ScheduleSpace(problem, model), how);
  while (std::unique_ptr<ScheduleSpace> const found{search.next()}) {
    auto plan = found->plan(model.data);
    auto const makespan = makespan_in_order(problem, plan);
    // The rounded makespan falls, the exact one may not.
    if (result.plan && makespan >= result.makespan) continue;
    result.plan = std::move(plan);
    result.makespan = makespan;
    limit.found(makespan);
  }
  result.nodes = search.statistics().node;
  result.complete = !search.stopped();
  return result;
}

}  // namespace granary
