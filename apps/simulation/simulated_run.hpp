// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/simulator/platform.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "order_trace.hpp"

namespace granary::app {

/// A problem on a platform, and the inputs of all its runs.
struct Case {
  Platform const& platform;
  workloads::Workload const& workload;
  detail::Precision precision;
  std::vector<std::int64_t> const* priorities;  ///< of the tasks; null: the workload's own
  std::uint64_t tasks;
};

/// Several processes, each on a machine like the platform.
struct ClusterSettings {
  Distribution grid;
  detail::Network network{};
};

/// The options of one run.
struct RunSettings {
  std::string scheduler;
  std::string eviction;
  detail::PlannerOptions planner;
  BookingOptions booking = {};
  detail::DecisionCost charge_decisions;
  std::optional<double> jitter;
  double estimator_error = 0;
  double truth_error = 0;
  std::uint64_t truth_seed = 0;
  double truth_scale = 1;
  std::vector<detail::SlowWorkers::From> slow;
  std::uint64_t seed = 0;
  std::optional<ClusterSettings> cluster = {};
};

/// The bytes that submitted tasks had booked, and the sleeps of submission that this caused.
struct BookingFigures {
  Bytes peak = 0;  ///< of the process with the largest
  std::uint64_t sleeps = 0;
  double seconds = 0;       ///< of virtual time, summed over the processes
  std::uint64_t alone = 0;  ///< BookingStatistics::alone
  void add(SimulationReport const& process);
};

struct LinkTraffic {
  std::string from;
  std::string to;
  std::uint64_t transfers = 0;
  Bytes bytes = 0;
};

/// The figures of one process of a cluster.
struct ProcessFigures {
  std::uint64_t tasks = 0;
  double idle_seconds = 0;  ///< summed over its workers
  std::uint64_t values_sent = 0;
  Bytes sent = 0;
  Bytes received = 0;
  std::uint64_t evictions = 0;
  Bytes host_peak = 0;    ///< of the bytes in use in the host's memory
  Bytes booked_peak = 0;  ///< of those that submitted tasks have booked
};

/// The results of one run.
struct RunFigures {
  double seconds = 0;
  Bytes host_to_device = 0;  ///< includes reads from a disk
  Bytes device_to_device = 0;
  Bytes device_to_host = 0;  ///< includes writes to a disk
  Bytes total = 0;
  std::uint64_t evictions = 0;
  std::uint64_t reloads = 0;
  double idle_seconds = 0;  ///< summed over the workers
  double decision_seconds = 0;
  double wall_seconds = 0;
  std::vector<LinkTraffic> links = {};                        ///< links that were used
  std::vector<std::pair<std::string, double>> counters = {};  ///< the scheduler's own
  std::string remark = {};                                    ///< Scheduler::remark
  std::vector<ProcessFigures> processes = {};                 ///< of a cluster
  std::uint64_t messages = 0;                                 ///< without values
  BookingFigures booking = {};

  [[nodiscard]] Bytes sent() const;
  [[nodiscard]] std::uint64_t values_sent() const;
};

/// Simulates it on one machine. Throws what Submitter documents, and Error if not every task ran; `trace`, if any, then
/// holds the events up to there. `schedule`, if any, is set to what ran.
[[nodiscard]] RunFigures simulate(Case const& problem, RunSettings const& settings, OrderTrace* order = nullptr,
                                  Trace* trace = nullptr, Schedule* schedule = nullptr);

/// The same on a cluster (RunSettings::cluster); `trace` merges all processes (trace_of_processes). Links and counters
/// are sums over the processes, of links between nodes of the same names.
[[nodiscard]] RunFigures simulate_cluster(Case const& problem, RunSettings const& settings, Trace* trace = nullptr);

/// Throws InvalidArgument unless all tasks and transfers, one after the other and each at its longest, end before
/// `longest_duration`: schedulers add up such times. O(tasks x models of workers).
void require_countable_time(detail::GraphRecorder const& graph, Platform const& platform, detail::Precision precision);

/// The tasks, with kernels for the kinds of workers that run them on the platform.
[[nodiscard]] detail::GraphRecorder record(workloads::Workload const& workload, Platform const& platform,
                                           detail::Precision precision);
/// Bottom levels with the schedulers' estimates, each task on its fastest kind of worker.
[[nodiscard]] std::vector<std::int64_t> priorities_of(detail::GraphRecorder const& graph, Platform const& platform,
                                                      detail::Precision precision, RunSettings const& settings);
/// The options of the schedulers' estimator in the run.
[[nodiscard]] PlatformEstimator::Options beliefs(detail::Precision precision, RunSettings const& settings);
/// The true times of the run.
[[nodiscard]] PlatformTruth truth_of(Platform const& platform, detail::Precision precision,
                                     RunSettings const& settings);

}  // namespace granary::app
