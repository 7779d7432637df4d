// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/trace/process_traces.hpp>
#include <granary/detail/workloads/priorities.hpp>

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulated_run.hpp"
#include "workload_truth.hpp"

namespace granary::app {

using namespace detail;

namespace {

ProcessFigures of_process(SimulationReport const& process, Machine const& machine) {
  ProcessFigures figures{.tasks = process.statistics.tasks_run - process.statistics.tasks_outside,
                         .values_sent = process.statistics.outgoing_values.transfers,
                         .sent = process.statistics.outgoing_values.bytes,
                         .received = process.of(TransferKind::Received).bytes,
                         .evictions = process.evictions,
                         .booked_peak = process.statistics.booking.peak};
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    if (machine.nodes[n].kind == NodeKind::Host) figures.host_peak += process.statistics.nodes[n].peak;
  }
  for (auto const& worker : process.workers) figures.idle_seconds += seconds(worker.idle);
  return figures;
}

RunFigures figures_of(ClusterReport const& report, Machine const& machine) {
  auto const bytes = [&](TransferKind kind) { return report.of(kind).bytes; };
  RunFigures figures{.seconds = seconds(report.end.time_since_epoch()),
                     .host_to_device = bytes(TransferKind::HostToDevice) + bytes(TransferKind::DiskRead),
                     .device_to_device = bytes(TransferKind::DeviceToDevice),
                     .device_to_host = bytes(TransferKind::DeviceToHost) + bytes(TransferKind::DiskWrite),
                     .evictions = report.evictions(),
                     .messages = report.messages};
  std::map<std::pair<std::string, std::string>, LinkStatistics> links;
  for (auto const& process : report.processes) {
    figures.total += process.bytes();
    figures.reloads += process.reloads;
    figures.decision_seconds += seconds(process.decision_time);
    figures.processes.push_back(of_process(process, machine));
    figures.booking.add(process);
    figures.idle_seconds += figures.processes.back().idle_seconds;
    for (std::size_t l = 0; l < process.statistics.links.size(); ++l) {
      auto const& [transfers, moved] = process.statistics.links[l];
      if (transfers == 0) continue;
      auto const& link = machine.links[l];
      auto& sum = links[{machine[link.from].name, machine[link.to].name}];
      sum.transfers += transfers;
      sum.bytes += moved;
    }
  }
  for (auto const& [ends, sum] : links) {
    figures.links.push_back({ends.first, ends.second, sum.transfers, sum.bytes});
  }
  return figures;
}

}  // namespace

Bytes RunFigures::sent() const {
  Bytes sum = 0;
  for (auto const& process : processes) sum += process.sent;
  return sum;
}

std::uint64_t RunFigures::values_sent() const {
  std::uint64_t sum = 0;
  for (auto const& process : processes) sum += process.values_sent;
  return sum;
}

RunFigures simulate_cluster(Case const& problem, RunSettings const& settings, Trace* trace) {
  auto const& platform = problem.platform;
  auto const& cluster = *settings.cluster;
  WorkloadTruth const truth(truth_of(platform, problem.precision, settings), problem.workload);
  SimulatorOptions options{
      .planner = settings.planner, .charge_decisions = settings.charge_decisions, .all_restartable = true};
  options.slow = settings.slow;
  options.trace.record = trace != nullptr;
  auto const start = std::chrono::steady_clock::now();
  ClusterSimulator simulator(
      platform.machine, truth,
      {.processes = cluster.grid.processes(),
       .network = cluster.network,
       .owner = [&](DataDescription const& datum, std::uint64_t) { return cluster.grid.owner(datum.position); },
       .booking = settings.booking},
      [&](ProcessId process) {
        return ClusterProcess{
            .policies = make_policies(settings.scheduler, settings.eviction, settings.seed + process.value()),
            .estimator = std::make_unique<PlatformEstimator>(platform, beliefs(problem.precision, settings)),
            .options = options};
      });
  workloads::DataHome const home{platform.home_node(), platform.home_in_place()};
  if (problem.priorities != nullptr) {
    workloads::PrioritySubmitter submitter(simulator, *problem.priorities);
    problem.workload.submit(submitter, home);
  } else {
    problem.workload.submit(simulator, home);
  }
  auto const report = simulator.run();
  std::chrono::duration<double> const wall = std::chrono::steady_clock::now() - start;
  if (trace != nullptr) {
    std::vector<Trace> traces;
    for (std::uint32_t p = 0; p < simulator.processes(); ++p) {
      traces.push_back(simulator.process(ProcessId(p)).trace());
    }
    *trace = trace_of_processes(traces);
  }
  if (!report.failures.empty()) std::rethrow_exception(report.failures.front().second.error);
  if (report.tasks_run() != problem.tasks) {
    throw Error(fmt::format("only {} of {} tasks ran under {} with {}", report.tasks_run(), problem.tasks,
                            settings.scheduler, settings.eviction));
  }
  auto figures = figures_of(report, simulator.process(ProcessId(0)).planner().topology().machine());
  figures.wall_seconds = wall.count();
  return figures;
}

}  // namespace granary::app
