// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/acts.hpp"
#include "support/random_graph.hpp"

#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/simulator/faults.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace granary::test {

using namespace detail;

/// The case of a seed: a random application on a random machine with a random pair of policies.
struct PolicyCase {
  std::uint64_t seed = 0;
  std::string scheduler;
  std::string eviction;  ///< `own_eviction`: the scheduler's default
  Machine machine;
  RandomGraph graph;
  PlannerOptions planner;
  FaultPlan faults;
  std::uint32_t check_every = 1;
  bool expands = false;     ///< its tasks may run as inner graphs
  bool wilful = false;      ///< external tasks end when they like; values are flushed, and tasks cancelled, in mid-run
  bool aborts = false;      ///< the scheduler has running tasks stopped at random (AbortingScheduler)
  bool misbehaves = false;  ///< its policies break their contract (mischievous)
  bool lines = false;       ///< the bytes of some data on the host have gaps
  bool waits_for_data = false;               ///< for single ones, in mid-run
  bool refuses = false;                      ///< memories are too small for some tasks, which are refused
  std::function<PolicySet()> policies = {};  ///< instead of those that the registry has of these names

  [[nodiscard]] std::string describe() const;
};

/// The registered schedulers, and with options those of them whose options change what the planner does, or its queues.
[[nodiscard]] std::vector<std::string> tested_schedulers();
/// As PolicyCase::eviction.
inline constexpr char const* own_eviction = "own";
/// The registered eviction policies, one with an option, and `own_eviction`.
[[nodiscard]] std::vector<std::string> tested_evictions();

/// The name of the case's eviction policy.
[[nodiscard]] std::string eviction_of(PolicyCase const& drawn);
[[nodiscard]] PolicyCase draw_case(std::uint64_t seed, bool with_faults);
/// A host with 1, 2 or 4 devices, with and without CPU workers, links between devices, and a disk. Consecutive seeds
/// use all schedulers in turn.
[[nodiscard]] PolicyCase draw_device_case(std::uint64_t seed, bool with_faults);

/// Devices of a few kilobytes, most of them with a link to each other, beside a host of a few pages. Data have their
/// homes on the devices, too, and mirrors or parts there; some tasks are refused for lack of memory.
[[nodiscard]] PolicyCase draw_device_views_case(std::uint64_t seed);

/// Families of data that share bytes; every other seed with faults, every third with tasks that commute, some with
/// external, returned and restarted tasks.
[[nodiscard]] PolicyCase draw_families_case(std::uint64_t seed);

/// Data of varying size, a quarter of the cases with devices; every other seed with faults, some with tasks that
/// commute, with external, returned, restarted and aborted tasks.
[[nodiscard]] PolicyCase draw_varying_case(std::uint64_t seed);

struct CaseResult {
  std::vector<Act> acts;
  std::size_t tasks_run = 0;
  std::size_t tasks_cancelled = 0;
  std::size_t tasks_refused = 0;  ///< for lack of memory
  std::size_t tasks_returned = 0;
  std::size_t tasks_stopped = 0;
  std::size_t tasks_aborted = 0;  ///< of these and of those returned, the ones that the scheduler wanted back
  std::size_t values_kept = 0;    ///< aside
  std::size_t values_sized = 0;   ///< of varying data
  std::size_t tasks_outside = 0;
  std::size_t turns = 0;  ///< tasks that ran and commute with others
  std::size_t copies = 0;
  std::uint64_t evictions = 0;
  std::uint64_t failures = 0;
  std::uint64_t policy_faults = 0;
  std::uint64_t redefined = 0;  ///< tasks that only wrote data which a reported failure had left without a value
};

/// Runs the case in the simulator with the oracle and with the planner's invariants checked; throws at the first broken
/// promise. Prints events and commands to `trace` if it is not null.
CaseResult run_case(PolicyCase const& drawn, std::ostream* trace = nullptr);

}  // namespace granary::test
