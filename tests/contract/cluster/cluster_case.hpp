// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cluster_oracle.hpp"

#include "support/acts.hpp"
#include "support/random_graph.hpp"

#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>
#include <granary/detail/simulator/faults.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

/// The case of a seed: a random application on a cluster of equal random machines with random policies.
struct ClusterCase {
  std::uint64_t seed = 0;
  std::uint32_t processes = 1;
  std::vector<std::pair<std::string, std::string>> policies;  ///< by process: scheduler, eviction
  Machine machine;                                            ///< of each process
  RandomGraph graph;
  std::vector<std::uint32_t> owners;  ///< of the data, by number of registration
  PlannerOptions planner;
  DecisionCost decisions;
  std::vector<FaultPlan> faults;  ///< by process
  Network network;
  std::uint32_t sends = 1;
  std::uint32_t receives = 1;
  Duration delay{0};
  BookingOptions booking;

  [[nodiscard]] std::string describe() const;
};

/// What the cases have.
struct ClusterCaseOptions {
  bool faults = false;       ///< tasks and copies that fail
  bool any_machine = false;  ///< any nodes and links, instead of a host with devices and a disk
  bool varying = false;      ///< data of varying size
  bool exact = false;        ///< all memories have exactly the least capacity that submission accepts
  bool booking = true;       ///< with any thresholds; false: only the number of live tasks lets submission sleep
};
[[nodiscard]] ClusterCase draw_cluster_case(std::uint64_t seed, ClusterCaseOptions options);

struct ClusterCaseResult {
  std::vector<std::pair<std::uint32_t, Act>> acts;  ///< with their processes
  ClusterOracle::Counts counts;
  std::uint64_t evictions = 0;
  std::uint64_t failures = 0;
  std::uint64_t remote_failures = 0;
  std::uint64_t refused = 0;   ///< tasks that would read what a reported failure took
  std::uint64_t returned = 0;  ///< tasks by their workers
  std::uint64_t messages = 0;
};

/// Runs the case with the oracle of the cluster, one oracle for each process, and the planners' invariants checked;
/// throws at the first broken promise. Prints events and commands to `trace` if it is not null.
ClusterCaseResult run_cluster_case(ClusterCase const& drawn, std::ostream* trace = nullptr);

}  // namespace granary::test
