// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What random cases are: policies, machine, application, faults.
#include "support/policy_case.hpp"

#include "support/random_machine.hpp"

#include <granary/detail/auto/register_auto.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>

namespace granary::test {

using namespace detail;

namespace {

FaultPlan draw_faults(Random& random) {
  FaultPlan faults;
  int const sort = static_cast<int>(random.below(4));  // only tasks, only copies, both, both with answers out of order
  if (sort != 1) {
    for (auto n = 1 + random.below(3); n > 0; --n) faults.tasks.emplace(random.below(40));
  }
  if (sort != 0) {
    for (auto n = 1 + random.below(4); n > 0; --n) faults.copies.insert(random.below(60));
  }
  return faults;
}

void draw_application(PolicyCase& drawn, Random& random, bool with_faults, GraphOptions options = {}) {
  if (random.chance(0.05)) {
    options.max_tasks = 400;
    options.max_data = 60;
  }
  drawn.graph = random_graph(drawn.machine, options, random);
  if ((options.families || options.varying) && drawn.seed % 3 == 0) make_commuting(drawn.graph, random);
  if (options.families) share_bytes(drawn.graph, drawn.machine, random);
  if (options.varying) make_varying(drawn.graph, random);
  bound_memories(drawn.machine, drawn.graph, random);
  drawn.planner.depth = static_cast<std::uint32_t>((1 + random.below(6)) % 6);
  drawn.planner.issue_depth = static_cast<std::uint32_t>(1 + random.below(4));
  drawn.planner.issue_ahead = std::chrono::microseconds(random.below(100));
  drawn.planner.write_back_early = random.chance(0.7);
  drawn.check_every = options.max_tasks > 100 ? 16 : 1;
  if (with_faults) drawn.faults = draw_faults(random);
  if (random.chance(0.3)) {
    drawn.faults.copy_delay = std::chrono::microseconds(50);
    drawn.faults.task_delay = std::chrono::microseconds(50);
  }
  drawn.faults.seed = drawn.seed;
  drawn.planner.device_issue = static_cast<std::uint32_t>(1 + random.below(3));
}

// Without a disk, values without a home go to the host.
void bound_hosts(Machine& machine) {
  for (auto& node : machine.nodes) {
    if (node.kind == NodeKind::Host && node.capacity == unbounded) node.capacity = 64_MiB;
  }
}

}  // namespace

std::vector<std::string> tested_schedulers() {
  register_auto();
  auto schedulers = scheduler_names();
  schedulers.insert(schedulers.end(),
                    {"auto:candidates=planned+laheteroprio+lfq+lws", "dmda:prefetch=assign", "dmdar:prefetch=assign",
                     "dmdas:prefetch=assign", "dmdas:ready=all", "dmdas:ready=all:prefetch=assign", "heftp:look=gb",
                     "heftp:look=let", "heftp:look=mms", "lfq:queue=1", "lws:order=submission", "prio:balance=parsec"});
  return schedulers;
}

std::vector<std::string> tested_evictions() {
  auto evictions = eviction_names();
  evictions.insert(evictions.end(), {"luf:written=8", own_eviction});
  return evictions;
}

std::string eviction_of(PolicyCase const& drawn) {
  return drawn.eviction == own_eviction ? default_eviction(drawn.scheduler) : drawn.eviction;
}

namespace {

// Each scheduler in turn, with a random eviction policy.
PolicyCase with_policies_in_turn(std::uint64_t seed, Random& random) {
  auto const schedulers = tested_schedulers();
  auto const evictions = tested_evictions();
  PolicyCase drawn;
  drawn.seed = seed;
  drawn.scheduler = schedulers[seed % schedulers.size()];
  drawn.eviction = evictions[random.below(evictions.size())];
  return drawn;
}

Machine some_devices(Random& random) {
  return device_machine({.devices = 1 << random.below(3),
                         .cpu_workers = random.chance(0.5),
                         .disk = random.chance(0.5),
                         .peers = random.chance(0.5)},
                        random);
}

void draw_returns(PolicyCase& drawn, Random& random) {
  if (!random.chance(0.4)) return;
  for (std::uint64_t task = 0; task < 400; ++task) {
    if (random.chance(0.5)) drawn.faults.returns.emplace(task);
    if (random.chance(0.3)) drawn.faults.stops.emplace(task);
    if (random.chance(0.3)) drawn.faults.recalls.emplace(task);
  }
}

}  // namespace

PolicyCase draw_case(std::uint64_t seed, bool with_faults) {
  Random random(seed);
  PolicyCase drawn;
  drawn.seed = seed;
  auto const schedulers = tested_schedulers();
  auto const evictions = tested_evictions();
  drawn.scheduler = schedulers[random.below(schedulers.size())];
  drawn.eviction = evictions[random.below(evictions.size())];
  drawn.machine = random_machine(random);
  draw_application(drawn, random, with_faults);
  drawn.expands = seed % 3 == 0;
  return drawn;
}

PolicyCase draw_varying_case(std::uint64_t seed) {
  Random random(seed);
  PolicyCase drawn = with_policies_in_turn(seed, random);
  bool const devices = seed % 4 == 0;
  drawn.machine = devices ? some_devices(random) : random_machine(random);
  draw_application(drawn, random, seed % 2 == 0, {.homes_on_devices = !devices, .varying = true});
  if (devices) bound_hosts(drawn.machine);
  drawn.wilful = random.chance(0.5);
  drawn.expands = random.chance(0.3);
  if (drawn.wilful && random.chance(0.5)) make_external(drawn.graph, random);
  if (random.chance(0.4)) {
    for (auto& codelet : drawn.graph.codelets) codelet.restartable = !codelet.external;
    drawn.aborts = random.chance(0.5);
  }
  draw_returns(drawn, random);
  drawn.planner.transfers_by_priority = random.chance(0.3);
  return drawn;
}

PolicyCase draw_families_case(std::uint64_t seed) {
  Random random(seed);
  PolicyCase drawn = with_policies_in_turn(seed, random);
  drawn.machine = random_machine(random);
  draw_application(drawn, random, seed % 2 == 0, {.families = true});
  drawn.wilful = random.chance(0.5);
  if (drawn.wilful && random.chance(0.5)) make_external(drawn.graph, random);
  if (random.chance(0.3)) {
    for (auto& codelet : drawn.graph.codelets) codelet.restartable = !codelet.external;
  }
  draw_returns(drawn, random);
  drawn.planner.transfers_by_priority = random.chance(0.3);
  return drawn;
}

PolicyCase draw_device_case(std::uint64_t seed, bool with_faults) {
  Random random(seed);
  PolicyCase drawn = with_policies_in_turn(seed, random);
  drawn.machine = some_devices(random);
  draw_application(drawn, random, with_faults, {.homes_on_devices = false});
  drawn.lines = random.chance(0.5);
  bound_hosts(drawn.machine);
  drawn.planner.transfers_by_priority = random.chance(0.3);
  return drawn;
}

// Memories are as those of a Runtime, whatever the tasks need.
PolicyCase draw_device_views_case(std::uint64_t seed) {
  Random random(seed);
  PolicyCase drawn = with_policies_in_turn(seed, random);
  drawn.machine = device_machine({.devices = static_cast<int>(1 + random.below(4)),
                                  .cpu_workers = random.chance(0.7),
                                  .disk = true,
                                  .peers = random.chance(0.8),
                                  .host_alignment = 4096},
                                 random);
  bool const families = random.chance(0.5);
  bool const varying = random.chance(0.3);
  bool const small = random.chance(0.7);
  GraphOptions options{.families = families, .varying = varying};
  if (small) options.most_bytes = 2048;
  if (random.chance(0.3)) options.max_tasks = 200;
  if (random.chance(0.5)) options.max_data = 40;
  draw_application(drawn, random, random.chance(0.3), options);
  for (auto& node : drawn.machine.nodes) {
    if (node.kind == NodeKind::Disk) continue;
    bool const host = node.kind == NodeKind::Host;
    Bytes const capacity = host ? 4096 * (1 + random.below(random.chance(0.8) ? 5 : 30))
                                : 1024 * (1 + random.below(random.chance(0.5) ? 8 : 64));
    node.capacity = capacity / node.alignment * node.alignment;
  }
  drawn.refuses = true;
  drawn.waits_for_data = random.chance(0.5);
  if (!families && !varying && random.chance(0.5)) add_places(drawn.graph, drawn.machine, random);
  drawn.wilful = random.chance(0.5);
  if (drawn.wilful && random.chance(0.5)) make_external(drawn.graph, random);
  if (random.chance(0.3)) {
    for (auto& codelet : drawn.graph.codelets) codelet.restartable = !codelet.external;
  }
  draw_returns(drawn, random);
  drawn.planner.transfers_by_priority = random.chance(0.3);
  return drawn;
}

}  // namespace granary::test
