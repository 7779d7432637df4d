// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Toy schedulers among which "auto" chooses, what they were told, and a simulator with them.
#pragma once

#include <granary/detail/auto/auto_scheduler.hpp>
#include <granary/detail/auto/register_auto.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace granary::auto_scheduler_test {

using namespace detail;

inline void no_kernel(KernelCall const&) {}

inline constexpr double one_millisecond = 1e6;  // operations, at one a nanosecond

using Places = std::set<std::pair<DataId, NodeId>>;

struct Told {
  std::uint64_t times = 0;  // that a scheduler caught up
  std::vector<TaskId> submitted, ready;
  Places expected, valid;
  Places evictable;  // told to the eviction policy
};

// What the last toy to catch up was told until then, and the numbers of tasks that each has given away; by the system
// that it was attached to, since candidates are attached to others while they are simulated.
struct Witness {
  std::map<SystemView const*, Told> told;
  std::map<SystemView const*, Places> evictable;
  std::map<std::pair<SystemView const*, std::string>, std::size_t> given;
};
inline Witness& witness() {
  static Witness all;
  return all;
}

enum class Uses : std::uint8_t { All, OneWorker, Cpus, Devices, NoneAfterAFew };

// The task that was ready first, on some of the workers.
class Fifo final : public Scheduler, public SystemEvents {
 public:
  static constexpr int few = 30;
  Fifo(std::string name, Uses uses) : m_name(std::move(name)), m_uses(uses) {}

  void attach(SystemView const& view, PlanBoard&) override { m_view = &view; }
  void submitted(TaskId task) override { m_told.submitted.push_back(task); }
  void ready(TaskId task) override {
    m_told.ready.push_back(task);
    m_ready.push_back(task);
  }
  TaskId next(GroupId group) override {
    auto const kind = m_view->topology().group(group).kind;
    if (m_uses == Uses::Cpus && kind != WorkerKind::Cpu) return {};
    if (m_uses == Uses::Devices && kind != WorkerKind::Device) return {};
    if (m_uses == Uses::OneWorker && !m_view->committed(group).empty()) return {};
    if (m_ready.empty() || (m_uses == Uses::NoneAfterAFew && m_given == few)) return {};
    ++m_given;
    TaskId const task = m_ready.front();
    m_ready.pop_front();
    ++witness().given[{m_view, m_name}];
    return task;
  }
  void withdrawn(TaskId task, Withdrawal, GroupId) override { std::erase(m_ready, task); }
  void replica_expected(DataId data, NodeId node) override { m_told.expected.emplace(data, node); }
  void replica_valid(DataId data, NodeId node) override { m_told.valid.emplace(data, node); }
  void caught_up() override {
    m_told.times = witness().told[m_view].times + 1;
    m_told.evictable = witness().evictable[m_view];
    witness().told[m_view] = m_told;
  }

 private:
  std::string m_name;
  Uses m_uses;
  SystemView const* m_view = nullptr;
  Told m_told;
  int m_given = 0;
  std::deque<TaskId> m_ready;
};

class WitnessedLru final : public EvictionPolicy {
 public:
  void attach(SystemView const& view, PlanBoard const& board) override {
    m_view = &view;
    witness().evictable[m_view].clear();
    m_lru->attach(view, board);
  }
  DataId victim(NodeId node) override { return m_lru->victim(node); }
  void replica_added(DataId data, NodeId node) override {
    witness().evictable[m_view].emplace(data, node);
    m_lru->replica_added(data, node);
  }
  void replica_used(DataId data, NodeId node) override { m_lru->replica_used(data, node); }
  void replica_dropped(DataId data, NodeId node) override {
    witness().evictable[m_view].erase({data, node});
    m_lru->replica_dropped(data, node);
  }

 private:
  SystemView const* m_view = nullptr;
  std::unique_ptr<EvictionPolicy> m_lru = make_eviction("lru");
};

// And forgets what they have told of earlier tests, since a system may lie where another one did.
inline void register_toys() {
  static bool const registered = [] {
    for (auto const& [name, uses] : std::map<std::string, Uses>{{"auto-test-all", Uses::All},
                                                                {"auto-test-one", Uses::OneWorker},
                                                                {"auto-test-cpus", Uses::Cpus},
                                                                {"auto-test-devices", Uses::Devices},
                                                                {"auto-test-few", Uses::NoneAfterAFew}}) {
      register_scheduler(name, [name, uses](PolicyOptions&) { return std::make_unique<Fifo>(name, uses); },
                         {.eviction = "auto-test-lru"});
    }
    register_eviction("auto-test-lru", [](PolicyOptions&) { return std::make_unique<WitnessedLru>(); });
    register_auto();
    return true;
  }();
  ASSERT_TRUE(registered);
  witness() = {};
}

class Beliefs final : public Estimator {
 public:
  [[nodiscard]] Duration kernel_time(CodeletId, double flops, WorkerKind kind) const override {
    return std::max(from_seconds(flops * seconds_per_flop[static_cast<std::size_t>(kind)]), Duration{1});
  }
  [[nodiscard]] bool measured(CodeletId codelet, WorkerKind) const override {
    auto const found = m_seen.find(codelet);
    return needed == 0 || (found != m_seen.end() && found->second >= needed);
  }
  void observe_kernel(CodeletId codelet, double, WorkerKind, Duration) override { ++m_seen[codelet]; }

  std::array<double, worker_kinds> seconds_per_flop = {1e-9, 1e-9};
  int needed = 0;  // measurements of a codelet

 private:
  std::map<CodeletId, int> m_seen;
};

inline ConstantSpeeds speeds(double cpu, double device) {
  ConstantSpeeds::Options options;
  options.seconds_per_flop = {cpu, device};
  return ConstantSpeeds(options);
}

inline Machine cores(std::uint32_t number, Bytes capacity = unbounded) {
  Machine machine;
  machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  machine.add_node({.name = "host", .capacity = capacity});
  machine.add_link_pair(NodeId(0), NodeId(1), 1e9, Duration(100), 4);
  for (std::uint32_t w = 0; w < number; ++w)
    machine.add_worker({.name = "core " + std::to_string(w), .node = NodeId(1)});
  return machine;
}

inline Machine cores_and_device(std::uint32_t number, Bytes capacity) {
  auto machine = cores(number);
  machine.add_node({.name = "gpu", .kind = NodeKind::Device, .capacity = capacity});
  machine.add_link_pair(NodeId(1), NodeId(2), 1e10);
  machine.add_worker({.name = "gpu", .node = NodeId(2), .kind = WorkerKind::Device});
  return machine;
}

inline PolicySet own_policies(std::string const& scheduler) {
  register_toys();
  return make_policies(scheduler, default_eviction(scheduler));
}

// "auto" that starts with the given scheduler.
inline PolicySet starting_with(std::string const& first, std::vector<std::string> const& candidates) {
  register_toys();
  auto scheduler = std::make_unique<AutoScheduler>(AutoScheduler::Options{.candidates = candidates, .first = first});
  auto eviction = scheduler->own_eviction("auto");
  return {std::move(scheduler), std::move(eviction)};
}

struct Stage {
  Stage(Machine machine, PolicySet policies, SimulatorOptions options = {}, ConstantSpeeds speed = speeds(1e-9, 1e-9))
      : truth(std::move(speed)),
        simulator(Topology(std::move(machine)), std::move(policies), beliefs, truth, std::move(options)),
        codelet(add_codelet("work")) {}

  CodeletId add_codelet(std::string name) {
    return simulator.add_codelet({.name = std::move(name), .kernels = {no_kernel, no_kernel}});
  }
  DataId stored(Bytes bytes) {
    return simulator.add_data({.bytes = bytes, .origin = NodeId(0), .home = NodeId(0), .origin_is_home = true});
  }
  TaskId submit(std::vector<Access> const& accesses = {}, double flops = one_millisecond) {
    return simulator.submit({.codelet = codelet, .accesses = accesses, .flops = flops});
  }
  void submit_free(int tasks, double flops = one_millisecond) {
    for (int t = 0; t < tasks; ++t) submit({}, flops);
  }
  void step_until(std::uint64_t tasks) {
    while (simulator.planner().statistics().tasks_run < tasks) ASSERT_TRUE(simulator.step());
  }
  [[nodiscard]] std::string remark() const { return simulator.planner().scheduler().remark(); }
  [[nodiscard]] double counter(std::string const& name) const {
    for (auto const& [known, value] : simulator.planner().scheduler().counters()) {
      if (known == name) return value;
    }
    return -1;
  }
  [[nodiscard]] Told const& told() const { return witness().told[&simulator.planner().view()]; }
  [[nodiscard]] std::size_t given_by(std::string const& name) const {
    return witness().given[{&simulator.planner().view(), name}];
  }
  // In seconds.
  double run(std::uint64_t tasks) {
    auto const report = simulator.run();
    EXPECT_EQ(report.statistics.tasks_run, tasks);
    EXPECT_TRUE(report.failures.empty());
    return seconds(report.end.time_since_epoch());
  }

  Beliefs beliefs;
  ConstantSpeeds truth;
  Simulator simulator;
  CodeletId codelet;
};

}  // namespace granary::auto_scheduler_test
