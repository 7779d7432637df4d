// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "simulated_run.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/workloads/priorities.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>

#include "workload_truth.hpp"

namespace granary::app {

using namespace detail;

namespace {

void never_called(KernelCall const&) { throw InternalError("a recorded task's kernel was called"); }

// Gives a codelet a kernel for each kind of worker with times in the platform.
class KindsOfPlatform final : public Submitter {
 public:
  KindsOfPlatform(GraphRecorder& target, PlatformTruth const& truth) : m_target(target), m_truth(truth) {}
  CodeletId add_codelet(Codelet codelet) override {
    std::array<Kernel, worker_kinds> kernels{};
    for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
      if (m_truth.runs_on(codelet, static_cast<WorkerKind>(kind))) kernels[kind] = never_called;
    }
    codelet.kernels = kernels;
    return m_target.add_codelet(std::move(codelet));
  }
  DataId add_data(DataDescription description) override { return m_target.add_data(std::move(description)); }
  void release_data(DataId data) override { m_target.release_data(data); }
  TaskId submit(TaskSubmission const& submission, Parameters) override { return m_target.submit(submission); }

 private:
  GraphRecorder& m_target;
  PlatformTruth const& m_truth;
};

SimulationReport run_and_record(Simulator& simulator, Trace* trace) {
  try {
    auto report = simulator.run();
    if (trace != nullptr) *trace = simulator.trace();
    return report;
  } catch (...) {
    if (trace != nullptr) *trace = simulator.trace();
    throw;
  }
}

RunFigures figures_of(SimulationReport const& report, Machine const& machine) {
  auto const bytes = [&](TransferKind kind) { return report.of(kind).bytes; };
  RunFigures figures{.seconds = seconds(report.end.time_since_epoch()),
                     .host_to_device = bytes(TransferKind::HostToDevice) + bytes(TransferKind::DiskRead),
                     .device_to_device = bytes(TransferKind::DeviceToDevice),
                     .device_to_host = bytes(TransferKind::DeviceToHost) + bytes(TransferKind::DiskWrite),
                     .total = report.bytes(),
                     .evictions = report.evictions,
                     .reloads = report.reloads,
                     .decision_seconds = seconds(report.decision_time)};
  figures.booking.add(report);
  for (auto const& worker : report.workers) figures.idle_seconds += seconds(worker.idle);
  for (std::size_t l = 0; l < machine.links.size(); ++l) {
    auto const& [transfers, moved] = report.statistics.links[l];
    if (transfers == 0) continue;
    auto const& link = machine.links[l];
    figures.links.push_back({machine[link.from].name, machine[link.to].name, transfers, moved});
  }
  return figures;
}

}  // namespace

void BookingFigures::add(SimulationReport const& process) {
  auto const& booking = process.statistics.booking;
  peak = std::max(peak, booking.peak);
  sleeps += booking.sleeps;
  alone += booking.alone;
  seconds += granary::seconds(process.submission_slept);
}

RunFigures simulate(Case const& problem, RunSettings const& settings, OrderTrace* order, Trace* trace,
                    Schedule* schedule) {
  auto const& platform = problem.platform;
  WorkloadTruth const truth(truth_of(platform, problem.precision, settings), problem.workload);
  PlatformEstimator estimator(platform, beliefs(problem.precision, settings));
  SimulatorOptions options{.planner = settings.planner,
                           .booking = settings.booking,
                           .charge_decisions = settings.charge_decisions,
                           .all_restartable = true,
                           .slow = settings.slow};
  options.trace.record = trace != nullptr;
  if (order != nullptr) options.observers.push_back(order);
  std::optional<ScheduleRecorder> recorder;
  if (schedule != nullptr) options.observers.push_back(&recorder.emplace(platform.machine));
  auto const start = std::chrono::steady_clock::now();
  Simulator simulator(Topology(platform.machine), make_policies(settings.scheduler, settings.eviction, settings.seed),
                      estimator, truth, options);
  workloads::DataHome const home{platform.home_node(), platform.home_in_place()};
  if (problem.priorities != nullptr) {
    workloads::PrioritySubmitter submitter(simulator, *problem.priorities);
    problem.workload.submit(submitter, home);
  } else {
    problem.workload.submit(simulator, home);
  }
  auto const report = run_and_record(simulator, trace);
  std::chrono::duration<double> const wall = std::chrono::steady_clock::now() - start;
  if (!report.failures.empty()) std::rethrow_exception(report.failures.front().error);
  if (report.statistics.tasks_run != problem.tasks) {
    throw Error(fmt::format("only {} of {} tasks ran under {} with {}", report.statistics.tasks_run, problem.tasks,
                            settings.scheduler, settings.eviction));
  }
  if (recorder) *schedule = recorder->schedule();
  auto figures = figures_of(report, platform.machine);
  figures.counters = simulator.planner().scheduler().counters();
  figures.remark = simulator.planner().scheduler().remark();
  figures.wall_seconds = wall.count();
  return figures;
}

GraphRecorder record(workloads::Workload const& workload, Platform const& platform, Precision precision) {
  PlatformTruth const truth(platform, {.precision = precision});
  GraphRecorder recorder;
  KindsOfPlatform submitter(recorder, truth);
  workload.submit(submitter, {platform.home_node(), platform.home_in_place()});
  return recorder;
}

void require_countable_time(GraphRecorder const& graph, Platform const& platform, Precision precision) {
  auto const& machine = platform.machine;
  std::set<std::string_view> models;
  for (auto const& worker : machine.workers) models.insert(Platform::model_of(worker));
  double latency = 0;
  double bandwidth = most_bandwidth;
  for (auto const& link : machine.links) {
    latency = std::max(latency, seconds(link.latency));
    bandwidth = std::min(bandwidth, machine.bandwidth_alone(link));
  }
  // A route passes each node at most once.
  auto const hops = static_cast<double>(machine.nodes.size());
  double total = 0;
  for (auto const& task : graph.tasks()) {
    auto const& codelet = graph.codelets()[task.codelet.index()];
    double slowest = 0;
    for (auto const model : models) {
      if (auto const times = platform.times(codelet.name, precision_of(codelet, precision), model))
        slowest = std::max(slowest, times->seconds(task.flops));
    }
    total += slowest;
    for (auto const& access : graph.accesses_of(task)) {
      auto const bytes = static_cast<double>(graph.data()[access.data.index()].bytes);
      total += hops * (latency + bytes / bandwidth);
    }
  }
  if (total < seconds(longest_duration)) return;
  throw InvalidArgument(fmt::format(
      "the tasks and transfers take up to {:.3g} s on platform '{}' one after the other; the maximum is {:.3g} "
      "s",
      total, platform.name, seconds(longest_duration)));
}

PlatformEstimator::Options beliefs(Precision precision, RunSettings const& settings) {
  return {.precision = precision, .error = settings.estimator_error, .seed = settings.seed};
}

PlatformTruth truth_of(Platform const& platform, Precision precision, RunSettings const& settings) {
  return {platform,
          {.precision = precision,
           .jitter = settings.jitter,
           .seed = settings.seed,
           .error = settings.truth_error,
           .error_seed = settings.truth_seed,
           .scale = settings.truth_scale}};
}

std::vector<std::int64_t> priorities_of(GraphRecorder const& graph, Platform const& platform, Precision precision,
                                        RunSettings const& settings) {
  PlatformEstimator estimator(platform, beliefs(precision, settings));
  auto const& codelets = graph.codelets();
  for (std::size_t c = 0; c < codelets.size(); ++c) {
    estimator.codelet_added(CodeletId(static_cast<std::uint32_t>(c)), codelets[c]);
  }
  return workloads::bottom_levels(graph, [&](CodeletId codelet, double flops) {
    std::optional<Duration> fastest;
    for (auto const kind : {WorkerKind::Cpu, WorkerKind::Device}) {
      if (!codelets[codelet.index()].runs_on(kind)) continue;
      auto const time = estimator.kernel_time(codelet, flops, kind);
      fastest = fastest ? std::min(*fastest, time) : time;
    }
    return fastest.value_or(Duration{0});
  });
}

}  // namespace granary::app
