// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/trial_run.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/bottom_levels.hpp>
#include <granary/detail/core/model/task_graph.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <variant>

namespace granary::detail {

namespace {

// A resource that is busy for this part of the time limits a run.
constexpr double busy_part = 0.8;

using KindTimes = std::array<Duration, worker_kinds>;

// Records the progress of a run.
class Progress final : public PlannerObserver {
 public:
  explicit Progress(std::vector<double> const& of_tasks) : m_work(of_tasks), m_ended(of_tasks.size()) {}

  void handled(Event const& event, NewIds) override {
    auto const* const done = std::get_if<TaskDone>(&event);
    if (done == nullptr) return;
    ends.push_back(planner().view().now().time_since_epoch());
    work += m_work[done->task.index()];
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
  std::vector<double> const& m_work;
  std::vector<bool> m_ended;
  std::map<GroupId, double> m_busy;
};

}  // namespace

/// The believed times, by codelet and operations, which are the truth as well.
class TrialRuns::Times final : public Estimator, public GroundTruth {
 public:
  /// The times of such tasks, to be set; 0 if not known.
  KindTimes& of(CodeletId codelet, double flops) { return m_known[{codelet.value(), flops}]; }
  [[nodiscard]] Duration kernel_time(CodeletId codelet, double flops, WorkerKind kind) const override {
    return std::max(m_known.at({codelet.value(), flops})[static_cast<std::size_t>(kind)], Duration{1});
  }
  [[nodiscard]] Duration kernel_time(Task const& task, Codelet const&, Worker const& worker) const override {
    return kernel_time(task.codelet, task.flops, worker.kind);
  }
  void observe_kernel(CodeletId, double, WorkerKind, Duration) override {}

 private:
  std::map<std::pair<std::uint32_t, double>, KindTimes> m_known;
};

struct TrialRuns::Implementation {
  Implementation(SystemView const& of, std::span<TaskId const> known, std::uint32_t ahead)
      : view(of), machine(of.topology().machine()), depth(ahead), tasks(known.begin(), known.end()) {}

  // The accesses of a task, with the numbers that data have here.
  std::span<Access const> accesses_of(Task const& task) {
    accesses.clear();
    for (auto const& access : task.accesses) {
      if (!access.repeated) accesses.push_back({.data = numbers.at(access.data), .mode = access.mode});
    }
    return accesses;
  }

  SystemView const& view;
  Machine machine;
  std::uint32_t depth;
  std::vector<TaskId> tasks;
  std::vector<Codelet> codelets;
  std::unordered_map<CodeletId, CodeletId> codelet_numbers;
  std::vector<DataDescription> data;
  std::unordered_map<DataId, DataId> numbers;  // of data
  std::vector<Access> accesses;                // of one task
  Times times;
  std::vector<double> work;          // of each task, in seconds on its fastest kind of worker
  std::vector<std::int64_t> levels;  // bottom levels
  double all_work = 0;
};

struct TrialRun::Implementation {
  Implementation(TrialRuns::Implementation& of, PolicySet policies, SimulatorOptions options)
      : trials(of),
        progress(of.work),
        simulator(Topology(of.machine), std::move(policies), of.times, of.times, observed(std::move(options))) {}
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

bool TrialRun::advance(std::uint64_t tasks) {
  auto& [trials, progress, simulator, complete] = *m_implementation;
  auto const all = trials.tasks.size();
  try {
    while (progress.ends.size() < std::min<std::uint64_t>(tasks, all)) {
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

TrialRuns::TrialRuns(SystemView const& view, std::span<TaskId const> tasks, std::uint32_t depth)
    : m_implementation(std::make_unique<Implementation>(view, tasks, depth)) {
  auto& parts = *m_implementation;
  auto const& topology = view.topology();
  // Of machines without a host: the first node.
  auto const host = std::ranges::find(parts.machine.nodes, NodeKind::Host, &MemoryNode::kind);
  NodeId const host_node(
      host == parts.machine.nodes.end() ? 0 : static_cast<std::uint32_t>(host - parts.machine.nodes.begin()));
  TaskGraph graph;
  for (TaskId const id : tasks) {
    auto const& task = view.task(id);
    auto const [codelet, new_codelet] =
        parts.codelet_numbers.try_emplace(task.codelet, static_cast<std::uint32_t>(parts.codelets.size()));
    if (new_codelet) {
      auto& copy = parts.codelets.emplace_back(view.codelet(task.codelet));
      copy.expand = nullptr;
      copy.check = nullptr;
    }
    auto& times = parts.times.of(codelet->second, task.flops);
    Duration shortest = Duration::max();
    for (GroupId const group : task.allowed_groups) {
      auto& time = times[static_cast<std::size_t>(topology.group(group).kind)];
      if (time == Duration{0}) time = view.kernel_time(id, group);
      shortest = std::min(shortest, time);
    }
    parts.work.push_back(seconds(shortest));
    parts.all_work += seconds(shortest);
    for (auto const& access : task.accesses) {
      if (access.repeated ||
          !parts.numbers.try_emplace(access.data, static_cast<std::uint32_t>(parts.data.size())).second)
        continue;
      auto& description = parts.data.emplace_back(view.description(access.data));
      description.may_return = false;
      // Nobody knows how it will vary.
      if (std::exchange(description.bound, 0) > 0) description.bytes = std::max<Bytes>(view.bytes(access.data), 1);
      // Its value was made before. A temporary's value is taken to be in the host's memory.
      if (reads(access.mode) && !description.origin.valid()) {
        if (!description.home.valid()) {
          description.home = host_node;
          description.in_place = !topology.groups_on(host_node).empty();
        }
        description.origin = description.home;
        description.origin_is_home = true;
      }
    }
    graph.add(AccessList(parts.accesses_of(task)));
  }
  parts.levels = bottom_levels(graph, [&](std::size_t task) { return from_seconds(parts.work[task]); });
}

TrialRuns::~TrialRuns() = default;

std::uint64_t TrialRuns::tasks() const { return m_implementation->tasks.size(); }

bool TrialRuns::fits() const {
  Bytes all = 0;
  for (auto const& data : m_implementation->data) all += data.bytes;
  auto const& machine = m_implementation->machine;
  bool const devices =
      std::ranges::any_of(machine.workers, [](Worker const& w) { return w.kind == WorkerKind::Device; });
  return std::ranges::all_of(machine.workers, [&](Worker const& worker) {
    return (devices && worker.kind != WorkerKind::Device) || all <= machine[worker.node].capacity;
  });
}

double TrialRuns::work_seconds() const { return m_implementation->all_work; }

std::unique_ptr<TrialRun> TrialRuns::start(std::string const& scheduler, std::string const& eviction,
                                           std::uint64_t seed, std::uint64_t told) const {
  auto& parts = *m_implementation;
  SimulatorOptions options;
  options.planner.depth = parts.depth;
  options.booking.policy = BookingPolicy::None;
  try {
    auto run = std::make_unique<TrialRun::Implementation>(parts, make_policies(scheduler, eviction, seed), options);
    for (auto const& codelet : parts.codelets) run->simulator.add_codelet(codelet);
    for (auto const& description : parts.data) run->simulator.add_data(description);
    for (TaskId const id : std::span(parts.tasks).first(std::min<std::uint64_t>(told, parts.tasks.size()))) {
      auto const& task = parts.view.task(id);
      run->simulator.submit({.codelet = parts.codelet_numbers.at(task.codelet),
                             .accesses = parts.accesses_of(task),
                             .priority = task.priority,
                             .flops = task.flops});
    }
    return std::unique_ptr<TrialRun>(new TrialRun(std::move(run)));
  } catch (Error const&) {
    return nullptr;
  }
}

}  // namespace granary::detail
