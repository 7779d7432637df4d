// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/policies/static/static.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/search/list_schedule.hpp>
#include <granary/detail/simulator/platform.hpp>

#include <optional>
#include <string>

#include "apps/simulation/make_workload.hpp"
#include "options.hpp"

namespace granary::app {

/// One problem on one platform, simulated as often as wanted. The policies know the times of kernels.
class ProblemRuns {
 public:
  /// Throws InvalidArgument.
  explicit ProblemRuns(Options const& options);

  /// The schedule of these policies. The makespan includes the values' ways home. Throws what a simulation throws, and
  /// Error if not every task ran.
  [[nodiscard]] Schedule run(PolicySet policies) const;
  /// The scheduler with its default eviction policy.
  [[nodiscard]] Schedule run(std::string const& scheduler) const;

  /// A schedule as the scheduler static follows it. Throws InvalidArgument, with the first task that differs, if it is
  /// one of another graph; `origin` names it.
  [[nodiscard]] Schedule follow(Schedule const& schedule, std::string const& origin = "the schedule",
                                detail::StaticScheduler::Repair repair = detail::StaticScheduler::Repair::None) const;
  /// The schedule of these times, which belong to the plan. Its makespan is not set.
  [[nodiscard]] Schedule placed(search::ListTimes const& times, search::ListPlan const& plan,
                                search::ListProblem const& problem) const;

  /// Of any schedule, without transfers and inner graphs.
  [[nodiscard]] TimeBounds bounds(std::uint32_t most_paths) const;

  [[nodiscard]] Platform const& platform() const { return m_platform; }
  [[nodiscard]] workloads::Workload const& workload() const { return *m_problem.workload; }
  [[nodiscard]] detail::GraphRecorder const& graph() const { return m_graph; }
  /// Of the codelet's kernel on the worker; empty if it cannot run there.
  [[nodiscard]] std::optional<Duration> kernel_time(detail::Codelet const& codelet, double flops,
                                                    detail::Worker const& worker) const;
  /// The same problem without transfers.
  [[nodiscard]] search::ListProblem list_problem(search::ListProblem::Classes classes) const;
  /// Operations per second.
  [[nodiscard]] double speed(Duration makespan) const { return m_problem.workload->flops() / seconds(makespan); }

 private:
  Platform m_platform;
  detail::Precision m_precision;
  Problem m_problem;
  detail::GraphRecorder m_graph;
  std::vector<std::int64_t> m_priorities;  // empty: the problem's own
  Schedule m_unplaced;                     // of the graph
};

/// With this makespan, as simulated. Expected times beyond it, which knew less, become earlier.
[[nodiscard]] Schedule with_makespan(Schedule schedule, Duration makespan);

}  // namespace granary::app
