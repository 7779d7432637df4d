// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that run as inner graphs, as in Engine: see core/engine/host_worker.cpp.
#include <granary/detail/core/planner/driver_rules.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <algorithm>

namespace granary {

using namespace detail;

// Expands the worker's first task into a graph, if it should be shared; returns true if it did.
bool Simulator::start_as_graph(WorkerId worker) {
  auto const& topology = m_planner.topology();
  auto const id = topology.group_of(worker);
  auto const& group = topology.group(id);
  auto const& command = m_lanes[worker.index()].queue.front().run;
  Task const& task = *command.description;
  auto const expand = m_planner.view().codelet(task.codelet).expand;
  if (!command.varying.empty()) return false;
  if (expand == nullptr || group.kind != WorkerKind::Cpu || group.workers.size() < 2 || !scarce(group, id))
    return false;
  auto run = std::make_unique<InnerRun>(task.accesses, worker, m_now);
  expand(m_parameters[task.id].get(), run->graph);
  if (run->graph.submitted() == 0) return false;
  m_runs[id.index()].push_back(std::move(run));
  return true;
}

bool Simulator::scarce(WorkerGroup const& group, GroupId id) const {
  auto const held = [&](WorkerId worker) { return m_lanes[worker.index()].queue.size(); };
  return tasks_are_scarce(held(*std::ranges::min_element(group.workers, {}, held)), m_planner.ahead(id));
}

// Assigns ready inner tasks: first to the workers of their parents, then to idle ones.
void Simulator::share_inner_tasks() {
  auto const& groups = m_planner.topology().groups();
  for (std::size_t g = 0; g < m_runs.size(); ++g) {
    if (m_runs[g].empty()) continue;
    for (auto const& run : m_runs[g]) help(run->parent, run.get());
    for (auto const worker : groups[g].workers) {
      if (m_lanes[worker.index()].queue.empty()) help(worker, nullptr);
    }
  }
}

// Starts one inner task on an idle worker: of the preferred graph, or of the first with a ready one.
bool Simulator::help(WorkerId worker, InnerRun* preferred) {
  auto& lane = m_lanes[worker.index()];
  if (lane.helps) return false;
  auto const& topology = m_planner.topology();
  auto const [run, inner] = take_inner_task(preferred, m_runs[topology.group_of(worker).index()]);
  if (inner == nullptr) return false;
  // The jitter depends on the inner task's own number, not on the outer task with the same number.
  auto const parent = m_lanes[run->parent.index()].queue.front().run.task;
  Task timed;
  timed.id = TaskId((parent.value() + 1) * 0x9e3779b97f4a7c15U + inner->id.value());
  timed.flops = inner->flops;
  Duration const duration =
      m_slow.slowed(worker, m_now, m_truth.kernel_time(timed, run->graph.codelet(*inner), topology.machine()[worker]));
  lane.helps = true;
  m_heap.push(m_now + duration + delay(m_options.faults.task_delay), InnerEnds{worker, duration, run, inner->id});
  return true;
}

void Simulator::happens(InnerEnds const& end) {
  auto& lane = m_lanes[end.worker.index()];
  lane.helps = false;
  lane.busy += end.duration;
  ++lane.inner_tasks;
  auto& run = *end.run;
  run.busy += end.duration;
  run.graph.done(end.task);
  if (run.graph.finished()) {
    auto const parent = run.parent;
    auto const busy = run.busy;
    auto const start = run.start;
    std::erase_if(m_runs[m_planner.topology().group_of(parent).index()],
                  [&](auto const& other) { return other.get() == &run; });
    end_front(parent, busy, start, m_now);
  }
  start_front(end.worker);
  share_inner_tasks();
}

}  // namespace granary
