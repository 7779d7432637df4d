// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem_runs.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/priorities.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "apps/simulation/bounded_machine.hpp"
#include "apps/simulation/simulated_run.hpp"

namespace granary::app {

using namespace detail;

namespace {

Platform chosen_platform(Options const& options) {
  auto platform = find_platform(options.platform);
  if (options.gpus || options.cpus) platform.select(options.gpus, options.cpus);
  return platform;
}

}  // namespace

ProblemRuns::ProblemRuns(Options const& options)
    : m_platform(chosen_platform(options)),
      m_precision(options.element()),
      m_problem(make_problem(options, {options.tiles, options.tile})),
      m_graph(record(*m_problem.workload, m_platform, m_precision)),
      m_unplaced(unplaced_schedule(m_platform.machine, m_graph)) {
  require_countable_time(m_graph, m_platform, m_precision);
  if (options.memory.size || options.memory.fraction)
    set_memory(m_platform, options.memory, m_problem.workload->working_set());
  if (!m_problem.has_priorities) m_priorities = priorities_of(m_graph, m_platform, m_precision, {});
}

std::optional<Duration> ProblemRuns::kernel_time(Codelet const& codelet, double flops, Worker const& worker) const {
  auto const times = m_platform.times(codelet.name, precision_of(codelet, m_precision), Platform::model_of(worker));
  if (!times) return std::nullopt;
  return from_seconds(times->seconds(flops));
}

search::ListProblem ProblemRuns::list_problem(search::ListProblem::Classes classes) const {
  auto const time = [&](Codelet const& codelet, double flops, Worker const& worker) {
    return kernel_time(codelet, flops, worker);
  };
  return {m_graph, m_platform.machine, time, classes};
}

Schedule ProblemRuns::run(PolicySet policies) const {
  PlatformTruth const truth(m_platform, {.precision = m_precision, .jitter = 0.0});
  PlatformEstimator estimator(m_platform, {.precision = m_precision});
  ScheduleRecorder recorder(m_platform.machine);
  SimulatorOptions options;
  if (m_platform.depth) options.planner.depth = *m_platform.depth;
  if (m_platform.device_issue > 0) options.planner.device_issue = m_platform.device_issue;
  options.all_restartable = true;
  options.observers = {&recorder};
  Simulator simulator(Topology(m_platform.machine), std::move(policies), estimator, truth, options);
  workloads::DataHome const home{m_platform.home_node(), m_platform.home_in_place()};
  if (m_priorities.empty()) {
    m_problem.workload->submit(simulator, home);
  } else {
    workloads::PrioritySubmitter submitter(simulator, m_priorities);
    m_problem.workload->submit(submitter, home);
  }
  auto const report = simulator.run();
  if (!report.failures.empty()) std::rethrow_exception(report.failures.front().error);
  if (report.statistics.tasks_run != m_graph.tasks().size()) {
    throw Error(fmt::format("only {} of {} tasks ran", report.statistics.tasks_run, m_graph.tasks().size()));
  }
  auto schedule = recorder.schedule();
  schedule.makespan = report.end.time_since_epoch();
  return schedule;
}

Schedule ProblemRuns::run(std::string const& scheduler) const {
  return run(make_policies(scheduler, default_eviction(scheduler)));
}

Schedule ProblemRuns::follow(Schedule const& schedule, std::string const& origin,
                             StaticScheduler::Repair repair) const {
  return run({std::make_unique<StaticScheduler>(origin, schedule, StaticScheduler::Options{.repair = repair}),
              make_eviction(default_eviction("static"))});
}

Schedule ProblemRuns::placed(search::ListTimes const& times, search::ListPlan const& plan,
                             search::ListProblem const& problem) const {
  auto schedule = m_unplaced;
  std::vector<std::uint32_t> order(times.starts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t task) { return std::pair(times.starts[task], task); });
  for (std::uint64_t rank = 0; rank < order.size(); ++rank) {
    auto const number = order[rank];
    auto& task = schedule.tasks[number];
    task.rank = rank;
    task.worker = times.workers[number];
    task.start = Duration(times.starts[number]);
    task.duration = Duration(problem.time(number, plan.classes[number]));
  }
  return schedule;
}

Schedule with_makespan(Schedule schedule, Duration makespan) {
  schedule.makespan = makespan;
  for (auto& task : schedule.tasks) {
    task.duration = std::min(task.duration, makespan);
    task.start = std::min(task.start, makespan - task.duration);
  }
  return schedule;
}

TimeBounds ProblemRuns::bounds(std::uint32_t most_paths) const {
  PlatformTruth const exact(m_platform, {.precision = m_precision, .jitter = 0.0});
  return time_bounds(m_graph, with_whole_devices(m_platform), times_for_bounds(m_platform, exact, m_precision),
                     {.most_paths = most_paths});
}

}  // namespace granary::app
