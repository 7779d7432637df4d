// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cluster_case.hpp"

#include "support/policy_case.hpp"
#include "support/random_booking.hpp"
#include "support/random_machine.hpp"

#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace granary::test {

using namespace detail;

namespace {

// A host with CPU workers, devices, or both; with or without a disk.
Machine draw_machine(Random& random) {
  int const devices = random.chance(0.5) ? 0 : static_cast<int>(1 + random.below(2));
  return device_machine({.devices = devices,
                         .cpu_workers = devices == 0 || random.chance(0.7),
                         .disk = random.chance(0.6),
                         .peers = random.chance(0.5)},
                        random);
}

// One to five nodes in any tree, one of them a host.
Machine draw_any_machine(Random& random) {
  for (;;) {
    auto machine = random_machine(random);
    if (std::ranges::find(machine.nodes, NodeKind::Host, &MemoryNode::kind) != machine.nodes.end()) return machine;
  }
}

// All that a task writes has one owner; what has no value yet is only written, by its owner's tasks.
void give_owners(ClusterCase& drawn, Random& random) {
  std::vector<bool> has_value;
  for (auto& operation : drawn.graph.operations) {
    if (auto const* const datum = std::get_if<RegisterData>(&operation)) {
      drawn.owners.push_back(static_cast<std::uint32_t>(random.below(drawn.processes)));
      has_value.push_back(datum->description.origin.valid());
      continue;
    }
    auto* const task = std::get_if<SubmitGraphTask>(&operation);
    if (task == nullptr) continue;
    std::optional<std::uint32_t> owner;
    std::map<std::uint32_t, AccessMode> modes;
    for (auto const& [d, mode] : task->accesses) modes[d] = modes.contains(d) ? modes[d] | mode : mode;
    std::vector<std::pair<std::uint32_t, AccessMode>> accesses;
    for (auto [d, mode] : modes) {
      if (writes(mode) && !owner) owner = drawn.owners[d];
      if (writes(mode) && *owner != drawn.owners[d]) mode = AccessMode::Read;
      if (!has_value[d] && !writes(mode)) continue;
      if (!has_value[d]) mode = AccessMode::Write;
      accesses.emplace_back(d, mode);
    }
    for (auto const& [d, mode] : accesses) has_value[d] = has_value[d] || writes(mode);
    std::ranges::rotate(
        accesses, accesses.begin() + static_cast<std::ptrdiff_t>(accesses.empty() ? 0 : random.below(accesses.size())));
    task->accesses = std::move(accesses);
  }
}

// Reserves do not grow later: with the same owner, a datum that is registered after the first task is like one before.
void keep_reserves(ClusterCase& drawn, Random& random) {
  std::vector<std::vector<DataDescription>> first(drawn.processes);
  std::size_t number = 0;
  bool later = false;
  for (auto& operation : drawn.graph.operations) {
    later = later || std::holds_alternative<SubmitGraphTask>(operation);
    auto* const datum = std::get_if<RegisterData>(&operation);
    if (datum == nullptr) continue;
    auto& known = first[drawn.owners[number++]];
    if (!later) {
      known.push_back(datum->description);
      continue;
    }
    bool const had_value = datum->description.origin.valid();
    std::vector<DataDescription> alike;
    for (auto const& one : known) {
      if (one.origin.valid() == had_value && (one.home.valid() || !datum->description.home.valid()))
        alike.push_back(one);
    }
    auto const name = datum->description.name;
    if (alike.empty()) {
      datum->description.bytes = 1;
      datum->description.bound = 0;
    } else {
      datum->description = alike[random.below(alike.size())];
      datum->description.name = name;
    }
  }
}

// Of one process: what its tasks and its data need on each node.
struct ProcessNeeds {
  std::vector<Bytes> task;     // the largest footprint
  std::vector<Bytes> reserve;  // of its own data
  std::vector<Bytes> passing;  // the largest datum that passes
};

std::vector<ProcessNeeds> needs_of(ClusterCase const& drawn, NodeId send_node) {
  auto const& machine = drawn.machine;
  std::size_t const nodes = machine.nodes.size();
  std::vector<ProcessNeeds> needs(drawn.processes,
                                  {std::vector<Bytes>(nodes), std::vector<Bytes>(nodes), std::vector<Bytes>(nodes)});
  std::vector<DataDescription> data;
  auto const size = [&](std::uint32_t d, std::uint32_t process, std::size_t n) -> Bytes {
    bool const there = drawn.owners[d] == process && data[d].home == NodeId(static_cast<std::uint32_t>(n));
    return there ? 0 : round_up(std::max(data[d].bytes, data[d].bound), machine.nodes[n].alignment);
  };
  for (auto const& operation : drawn.graph.operations) {
    if (auto const* const datum = std::get_if<RegisterData>(&operation)) {
      auto const d = static_cast<std::uint32_t>(data.size());
      data.push_back(datum->description);
      auto& reserve = needs[drawn.owners[d]].reserve;
      for (std::size_t n = 0; n < nodes; ++n) reserve[n] = std::max(reserve[n], size(d, drawn.owners[d], n));
    }
    auto const* const task = std::get_if<SubmitGraphTask>(&operation);
    if (task == nullptr) continue;
    auto const written = std::ranges::find_if(task->accesses, [](auto const& access) { return writes(access.second); });
    std::uint32_t process = 0;
    if (!task->accesses.empty())
      process = drawn.owners[written != task->accesses.end() ? written->first : task->accesses.front().first];
    auto& own = needs[process];
    for (std::size_t n = 0; n < nodes; ++n) {
      Bytes sum = 0;
      for (auto const& [d, mode] : task->accesses) {
        sum += (writes(mode) && data[d].bound > 0 ? 2 : 1) * size(d, process, n);
        own.passing[n] = std::max(own.passing[n], size(d, process, n));
        auto& owner = needs[drawn.owners[d]];
        if (NodeId(static_cast<std::uint32_t>(n)) == send_node)
          owner.passing[n] = std::max(owner.passing[n], size(d, drawn.owners[d], n));
      }
      bool const works = std::ranges::any_of(machine.workers, [&](Worker const& worker) {
        return worker.node.index() == n && drawn.graph.codelets[task->codelet].runs_on(worker.kind);
      });
      if (works) own.task[n] = std::max(own.task[n], sum);
    }
  }
  return needs;
}

void bound_memories_of_all(ClusterCase& drawn, bool exact, Random& random) {
  auto& machine = drawn.machine;
  Topology const topology(with_peers(machine, drawn.network, drawn.receives));
  auto const needs = needs_of(drawn, topology.send_node());
  // Values without a home go to unbounded nodes without workers: disks stay unbounded, and one more if there is none.
  bool disk = std::ranges::any_of(machine.nodes, [](MemoryNode const& node) { return node.kind == NodeKind::Disk; });
  bool const all_have_homes = std::ranges::all_of(drawn.graph.operations, [](Operation const& operation) {
    auto const* const datum = std::get_if<RegisterData>(&operation);
    return datum == nullptr || datum->description.home.valid();
  });
  double const least_chance = exact ? 1 : random.chance(0.3) ? 1 : 0.4;
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    NodeId const node(static_cast<std::uint32_t>(n));
    if (machine.nodes[n].kind == NodeKind::Disk || (!exact && random.chance(0.1))) continue;
    if (!disk && !all_have_homes) {
      if (has_workers(machine, node) && machine.nodes[n].kind == NodeKind::Host) {
        machine.nodes[n].capacity = 64_MiB;  // values without a home stay there
        continue;
      }
      if (!has_workers(machine, node)) {
        disk = true;
        continue;
      }
    }
    Bytes least = 1;
    for (auto const& own : needs) {
      Bytes const reserve = topology.between_others(node) ? own.reserve[n] : 0;
      least = std::max(least, own.task[n] + reserve);
      if (topology.between_others(node)) least = std::max(least, own.passing[n] + std::max(own.passing[n], reserve));
    }
    if (!random.chance(least_chance)) least = round_up(least + random.below(1 + 2 * least), machine.nodes[n].alignment);
    machine.nodes[n].capacity = least;
  }
}

FaultPlan draw_faults_of_one(Random& random) {
  FaultPlan faults;
  auto const sort = random.below(3);
  if (sort != 1) {
    for (auto n = 1 + random.below(3); n > 0; --n) faults.tasks.emplace(random.below(40));
  }
  if (sort != 0) {
    for (auto n = 1 + random.below(4); n > 0; --n) faults.copies.insert(random.below(40));
  }
  return faults;
}

// With numbers of their own: what else a seed draws does not depend on them.
void draw_thresholds(ClusterCase& drawn, bool any) {
  Random random(drawn.seed + 0x9e3779b97f4a7c15U);
  Bytes most = 1;
  for (auto const& node : drawn.machine.nodes) {
    if (node.kind == NodeKind::Host && node.capacity < unbounded) most = std::max(most, node.capacity);
  }
  auto const live = drawn.booking.max_live_tasks;
  drawn.booking = any ? draw_booking(random, most) : BookingOptions{.sleep = unbounded};
  drawn.booking.max_live_tasks = live;
}

}  // namespace

ClusterCase draw_cluster_case(std::uint64_t seed, ClusterCaseOptions options) {
  Random random(seed);
  ClusterCase drawn;
  drawn.seed = seed;
  drawn.processes = static_cast<std::uint32_t>(1 + (seed / 2) % 7);
  auto const schedulers = tested_schedulers();
  auto const evictions = tested_evictions();
  std::pair const policies(schedulers[seed % schedulers.size()], evictions[random.below(evictions.size())]);
  bool const alike = random.chance(0.7);
  for (std::uint32_t p = 0; p < drawn.processes; ++p) {
    drawn.policies.push_back(
        alike ? policies
              : std::pair(schedulers[random.below(schedulers.size())], evictions[random.below(evictions.size())]));
  }
  drawn.machine = options.any_machine ? draw_any_machine(random) : draw_machine(random);
  drawn.network = {.bandwidth = 1e8 * static_cast<double>(1 + random.below(100)),
                   .latency = Duration(static_cast<Duration::rep>(random.below(20000)))};
  drawn.sends = static_cast<std::uint32_t>(1 + random.below(3));
  drawn.receives = static_cast<std::uint32_t>(1 + random.below(3));
  GraphOptions graph{.homes_on_devices = random.chance(0.2)};
  if (random.chance(0.05)) {
    graph.max_tasks = 300;
    graph.max_data = 40;
  }
  drawn.graph = random_graph(drawn.machine, graph, random);
  if (random.chance(0.3)) make_commuting(drawn.graph, random);
  if (options.varying) make_varying(drawn.graph, random);
  give_owners(drawn, random);
  keep_reserves(drawn, random);
  bound_memories_of_all(drawn, options.exact, random);
  drawn.planner.depth = static_cast<std::uint32_t>((1 + random.below(6)) % 6);
  drawn.planner.issue_depth = static_cast<std::uint32_t>(1 + random.below(4));
  drawn.planner.issue_ahead = std::chrono::microseconds(random.below(100));
  drawn.planner.device_issue = static_cast<std::uint32_t>(1 + random.below(3));
  drawn.planner.write_back_early = random.chance(0.7);
  drawn.planner.transfers_by_priority = random.chance(0.3);
  if (random.chance(0.15))
    drawn.decisions = DecisionCost::per_committed_task(std::chrono::microseconds(random.below(50)));
  if (random.chance(0.5)) drawn.booking.max_live_tasks = 1 + random.below(random.chance(0.5) ? 4 : 40);
  draw_thresholds(drawn, options.booking);
  if (random.chance(0.4)) drawn.delay = std::chrono::microseconds(1 + random.below(200));
  for (std::uint32_t p = 0; p < drawn.processes; ++p) {
    auto& faults = drawn.faults.emplace_back();
    if (options.faults && (p == 0 || random.chance(0.3))) faults = draw_faults_of_one(random);
    if (random.chance(0.3)) faults.copy_delay = faults.task_delay = std::chrono::microseconds(50);
    faults.seed = seed + p;
    // A worker gives a task back although another one was issued behind it, if that decision takes time.
    bool const gives_back = random.chance(0.2) && drawn.decisions.kind == DecisionCost::Kind::None;
    for (std::uint64_t task = 0; gives_back && task < 100; ++task) {
      if (random.chance(0.5)) faults.returns.emplace(task);
      if (random.chance(0.2)) faults.recalls.emplace(task);
    }
  }
  return drawn;
}

std::string ClusterCase::describe() const {
  auto const count = [](auto const& list) { return std::to_string(list.size()); };
  return "seed " + std::to_string(seed) + ": " + std::to_string(processes) + " processes, " + policies[0].first +
         " + " + policies[0].second + ", " + count(machine.nodes) + " nodes, " + count(machine.workers) + " workers, " +
         count(graph.operations) + " operations, depth " + std::to_string(planner.depth) + ", " + to_text(booking);
}

}  // namespace granary::test
