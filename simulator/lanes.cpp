// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tasks that workers have, from the order to run one to its end.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/driver_rules.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace granary {

using namespace detail;

void Simulator::perform(RunCommand const& command) {
  m_lanes[command.worker.index()].queue.push_back({command});
  m_given.push_back(command.worker);
  if (command.follows && m_options.faults.recalls.erase(command.task) > 0)
    m_heap.push(m_now, Recall{command.worker, command.task});
}

// A task that has not started is returned when its turn comes, since replies are in order; one that runs as a graph has
// parts on other workers, and ends normally.
void Simulator::perform(AbortCommand const& command) {
  auto& lane = m_lanes[command.worker.index()];
  auto const given = std::ranges::find(lane.queue, command.task, [](Given const& other) { return other.run.task; });
  if (given == lane.queue.end()) return;
  if (given != lane.queue.begin() || !lane.started) {
    given->aborted = true;
    return;
  }
  auto const& graphs = m_runs[m_planner.topology().group_of(command.worker).index()];
  if (std::ranges::any_of(graphs, [&](auto const& run) { return run->parent == command.worker; })) return;
  m_shared.stop(command.worker, m_now);
  m_heap.push(m_now, TaskEnds{command.worker, m_now - lane.began, lane.began, ++lane.run, TaskEnds::How::Stopped});
}

// Starts the worker's next task if it has one and is idle.
void Simulator::start_front(WorkerId worker) {
  auto& lane = m_lanes[worker.index()];
  if (lane.started || lane.helps || lane.queue.empty()) return;
  lane.started = true;
  lane.began = m_now;
  ++lane.run;
  if (is_skipped(lane.queue.front().run.follows, lane.last_failed)) {
    m_heap.push(m_now, TaskEnds{worker, Duration{0}, m_now, lane.run, TaskEnds::How::Skipped});
    return;
  }
  if (lane.queue.front().aborted || faulty_front(worker, m_options.faults.returns)) {
    m_heap.push(m_now, TaskEnds{worker, Duration{0}, m_now, lane.run, TaskEnds::How::Returned});
    return;
  }
  if (start_as_graph(worker)) return;
  Task const& task = *lane.queue.front().run.description;
  auto const& machine = m_planner.topology().machine();
  Codelet const& codelet = m_planner.view().codelet(task.codelet);
  Duration const duration = m_slow.slowed(worker, m_now, m_truth.kernel_time(task, codelet, machine[worker]));
  if (m_planner.may_restart(task.id) && faulty_front(worker, m_options.faults.stops)) {
    m_heap.push(m_now + duration / 2, TaskEnds{worker, duration / 2, m_now, lane.run, TaskEnds::How::Stopped});
    return;
  }
  if (double const share = m_truth.processor_share(task, codelet, machine[worker]); share > 0) {
    m_shared.start(worker, machine[worker].node, share, duration, m_now);
    return;
  }
  m_heap.push(m_now + duration + delay(m_options.faults.task_delay), TaskEnds{worker, duration, m_now, lane.run});
}

void Simulator::happens(TaskEnds const& end) {
  if (end.run != m_lanes[end.worker.index()].run) return;
  if (end.how == TaskEnds::How::Skipped) return answer(TaskSkipped{take_front(end.worker).task});
  if (end.how == TaskEnds::How::Returned) return return_front(end.worker, false);
  m_lanes[end.worker.index()].busy += end.duration;
  if (end.how == TaskEnds::How::Stopped) {
    return return_front(end.worker, true, {.begin = end.start, .end = end.start + end.duration});
  }
  end_front(end.worker, end.duration, end.start, end.start + end.duration);
  share_inner_tasks();
}

// The worker's first task ended; `work` is the time of its kernels, on all workers if it ran as a graph.
void Simulator::end_front(WorkerId worker, Duration work, Instant start, Instant end) {
  auto& lane = m_lanes[worker.index()];
  lane.last_failed = m_options.faults.tasks.contains(lane.queue.front().run.task);
  ++lane.tasks;
  auto const run = take_front(worker);
  TaskTimes const times{.begin = start, .end = end};
  if (lane.last_failed) {
    auto error = std::make_exception_ptr(Error("injected failure of task " + std::to_string(run.task.value())));
    answer(TaskFailed{run.task, std::move(error), times});
  } else {
    size_results(run);
    answer(TaskDone{run.task, work, times});
  }
}

void Simulator::size_results(RunCommand const& run) {
  for (std::size_t i = 0; i < run.varying.size(); ++i) {
    auto const& result = run.varying[i].result;
    if (!result) continue;
    auto const& access = run.description->accesses[i];
    auto const& description = m_planner.view().description(access.data);
    answer(Sized{run.task, access.data, m_truth.value_bytes(*run.description, access, description, result->room)});
  }
}

// The worker is through with its first task, and starts the next one.
RunCommand Simulator::take_front(WorkerId worker) {
  auto& lane = m_lanes[worker.index()];
  auto const run = lane.queue.front().run;
  lane.queue.pop_front();
  lane.started = false;
  start_front(worker);
  return run;
}

bool Simulator::may_return_front(WorkerId worker) const {
  auto const& queue = m_lanes[worker.index()].queue;
  return queue.size() < 2 || !queue[1].run.follows;
}

// True if the worker's first task is one of these and may be returned; then it is removed from them.
bool Simulator::faulty_front(WorkerId worker, std::set<TaskId>& tasks) {
  return !tasks.empty() && may_return_front(worker) && tasks.erase(m_lanes[worker.index()].queue.front().run.task) > 0;
}

void Simulator::return_front(WorkerId worker, bool changed, TaskTimes const& times) {
  if (may_return_front(worker)) return answer(TaskReturned{take_front(worker).task, changed, times});
  m_lanes[worker.index()].started = false;
  start_front(worker);
}

// Only the last task of a lane may be taken back, before it starts.
void Simulator::happens(Recall const& recall) {
  auto& queue = m_lanes[recall.worker.index()].queue;
  if (queue.size() < 2 || queue.back().run.task != recall.task) return;
  queue.pop_back();
  answer(TaskReturned{recall.task});
}

}  // namespace granary
