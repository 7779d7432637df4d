// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/trial_run.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/bottom_levels.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <variant>

namespace granary::detail {

namespace {

// A resource that is busy for this part of the time limits a run.
constexpr double busy_part = 0.8;
// Steps, of some microseconds each, between two questions whether a run is still wanted.
constexpr std::uint64_t steps_between_questions = 64;

// Records the progress of a run.
class Progress final : public PlannerObserver {
 public:
  explicit Progress(std::vector<TrialTasks::Item> const& tasks) : m_tasks(tasks), m_ended(tasks.size()) {}

  void handled(Event const& event, NewIds) override {
    auto const* const done = std::get_if<TaskDone>(&event);
    if (done == nullptr) return;
    ends.push_back(planner().view().now().time_since_epoch());
    work += granary::seconds(m_tasks[done->task.index()].shortest);
    m_ended[done->task.index()] = true;
  }
  void performed(Command const& command) override {
    auto const* const run = std::get_if<RunCommand>(&command);
    if (run == nullptr) return;
    auto const group = planner().topology().group_of(run->worker);
    m_busy[group] += granary::seconds(planner().view().kernel_time(run->task, group));
  }
  [[nodiscard]] bool ended(std::size_t task) const { return m_ended[task]; }

  [[nodiscard]] std::string limit(double time) const {
    auto const& topology = planner().topology();
    auto const& machine = topology.machine();
    double most = busy_part;
    std::string limit = "the order";
    auto const offer = [&](double part, char const* what) {
      if (part <= most) return;
      most = part;
      limit = what;
    };
    for (auto const& [group, busy] : m_busy)
      offer(busy / time / static_cast<double>(topology.group(group).workers.size()), "the workers");
    std::vector<double> buses(machine.buses.size());
    for (std::size_t l = 0; l < machine.links.size(); ++l) {
      auto const& link = machine.links[l];
      bool const disk = machine[link.from].kind == NodeKind::Disk || machine[link.to].kind == NodeKind::Disk;
      auto const* const what = disk ? "the disk" : "the links";
      auto const bytes = static_cast<double>(planner().statistics().links[l].bytes);
      offer(bytes / machine.bandwidth_alone(link) / time, what);
      for (auto const bus : link.buses) offer((buses[bus] += bytes) / machine.buses[bus].bandwidth / time, what);
    }
    return limit;
  }

  std::vector<Duration> ends;
  double work = 0;  // seconds, of the tasks that have ended

 private:
  std::vector<TrialTasks::Item> const& m_tasks;
  std::vector<bool> m_ended;
  std::map<GroupId, double> m_busy;
};

}  // namespace

/// The believed times, by codelet and operations, which are the truth as well.
class TrialRuns::Times final : public Estimator, public GroundTruth {
 public:
  explicit Times(TrialTasks const& tasks) : m_tasks(tasks) {}
  [[nodiscard]] Duration kernel_time(CodeletId codelet, double flops, WorkerKind kind) const override {
    return std::max(m_tasks.times(codelet, flops)[static_cast<std::size_t>(kind)], Duration{1});
  }
  [[nodiscard]] Duration kernel_time(Task const& task, Codelet const&, Worker const& worker) const override {
    return kernel_time(task.codelet, task.flops, worker.kind);
  }
  void observe_kernel(CodeletId, double, WorkerKind, Duration) override {}

 private:
  TrialTasks const& m_tasks;
};

struct TrialRuns::Implementation {
  explicit Implementation(TrialTasks of) : tasks(std::move(of)), times(tasks) {}

  TrialTasks tasks;
  Times times;
  std::vector<std::int64_t> levels;  // bottom levels
  double all_work = 0;               // seconds, each task on its fastest kind of worker
};

struct TrialRun::Implementation {
  Implementation(TrialRuns::Implementation& of, PolicySet policies, SimulatorOptions options)
      : trials(of),
        progress(of.tasks.tasks()),
        simulator(Topology(of.tasks.machine()), std::move(policies), of.times, of.times, observed(std::move(options))) {
  }
  SimulatorOptions observed(SimulatorOptions options) {
    options.observers.push_back(&progress);
    return options;
  }
  TrialRuns::Implementation& trials;
  Progress progress;
  Simulator simulator;
  bool complete = false;
};

TrialRun::TrialRun(std::unique_ptr<Implementation> parts) : m_implementation(std::move(parts)) {}
TrialRun::~TrialRun() = default;

bool TrialRun::advance(std::uint64_t tasks, std::function<bool()> const& wanted) {
  auto& [trials, progress, simulator, complete] = *m_implementation;
  auto const all = trials.tasks.size();
  try {
    for (std::uint64_t steps = 0; progress.ends.size() < std::min<std::uint64_t>(tasks, all); ++steps) {
      if (steps % steps_between_questions == 0 && !wanted()) return false;
      if (!simulator.step()) return false;
    }
    if (progress.ends.size() == all && !std::exchange(complete, true)) static_cast<void>(simulator.run());
    return true;
  } catch (Error const&) {
    return false;
  }
}

double TrialRun::seconds() const {
  auto const& [trials, progress, simulator, complete] = *m_implementation;
  double const now = granary::seconds(simulator.now().time_since_epoch());
  if (complete) return now;
  std::int64_t chain_ns = 0;
  for (std::size_t task = 0; task < trials.levels.size(); ++task) {
    if (!progress.ended(task)) chain_ns = std::max(chain_ns, trials.levels[task]);
  }
  double const in_proportion = progress.work > 0 ? now * (trials.all_work - progress.work) / progress.work : 0;
  return now + std::max(in_proportion, static_cast<double>(chain_ns) * 1e-9);
}

std::vector<Duration> const& TrialRun::ends() const { return m_implementation->progress.ends; }

Bytes TrialRun::bytes_moved() const {
  Bytes bytes = 0;
  for (auto const& link : m_implementation->simulator.planner().statistics().links) bytes += link.bytes;
  return bytes;
}

std::string TrialRun::limit() const {
  return m_implementation->progress.limit(granary::seconds(m_implementation->simulator.now().time_since_epoch()));
}

TrialRuns::TrialRuns(TrialTasks of) : m_implementation(std::make_unique<Implementation>(std::move(of))) {
  auto const& tasks = m_implementation->tasks;
  auto const& items = tasks.tasks();
  for (auto const& task : items) m_implementation->all_work += granary::seconds(task.shortest);
  m_implementation->levels = bottom_levels(
      items.size(), [&](std::size_t i) { return tasks.accesses(items[i]); },
      [&](std::size_t i) { return items[i].shortest; });
}

TrialRuns::~TrialRuns() = default;

std::uint64_t TrialRuns::tasks() const { return m_implementation->tasks.size(); }

bool TrialRuns::fits() const {
  Bytes all = 0;
  for (auto const& data : m_implementation->tasks.data()) all += data.bytes;
  auto const& machine = m_implementation->tasks.machine();
  bool const devices =
      std::ranges::any_of(machine.workers, [](Worker const& w) { return w.kind == WorkerKind::Device; });
  return std::ranges::all_of(machine.workers, [&](Worker const& worker) {
    return (devices && worker.kind != WorkerKind::Device) || all <= machine[worker.node].capacity;
  });
}

double TrialRuns::work_seconds() const { return m_implementation->all_work; }

std::unique_ptr<TrialRun> TrialRuns::start(Candidate const& policies, std::uint64_t seed, std::uint64_t told) const {
  auto& parts = *m_implementation;
  auto const& tasks = parts.tasks;
  SimulatorOptions options;
  options.planner.depth = tasks.depth();
  options.booking.policy = BookingOptions::Policy::None;
  try {
    auto run = std::make_unique<TrialRun::Implementation>(
        parts, make_policies(policies.scheduler, policies.eviction, seed), options);
    for (auto const& codelet : tasks.codelets()) run->simulator.add_codelet(codelet);
    for (auto const& description : tasks.data()) run->simulator.add_data(description);
    for (auto const& task : std::span(tasks.tasks()).first(std::min<std::uint64_t>(told, tasks.size()))) {
      run->simulator.submit(
          {.codelet = task.codelet, .accesses = tasks.accesses(task), .priority = task.priority, .flops = task.flops});
    }
    return std::unique_ptr<TrialRun>(new TrialRun(std::move(run)));
  } catch (Error const&) {
    return nullptr;
  }
}

}  // namespace granary::detail
