// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/simulator/simulator.hpp>

#include <string>
#include <utility>

namespace granary {

Simulator::Simulator(Topology topology, PolicySet policies, Estimator& estimator, GroundTruth const& truth,
                     SimulatorOptions options)
    : m_planner(std::move(topology), std::move(policies), estimator, options.planner),
      m_truth(truth),
      m_options(std::move(options)),
      m_links(m_planner.topology().machine()),
      m_lanes(m_planner.topology().machine().workers.size()),
      m_random(m_options.faults.seed) {}

CodeletId Simulator::add_codelet(Codelet codelet) {
  CodeletId const id = m_planner.add_codelet(codelet);
  accepted(AddCodelet{std::move(codelet)});
  return id;
}

DataId Simulator::add_data(DataDescription description) {
  DataId const id = m_planner.add_data(description);
  accepted(AddData{std::move(description)});
  return id;
}

void Simulator::release_data(DataId data) { accept(ReleaseData{data}); }

TaskId Simulator::submit(TaskSubmission const& submission, Parameters) {
  TaskId const id = m_planner.submit(submission);
  accepted(SubmitTask{submission.codelet,
                      {submission.accesses.begin(), submission.accesses.end()},
                      submission.priority,
                      submission.flops});
  return id;
}

void Simulator::cancel_all(std::exception_ptr error) { accept(CancelAll{std::move(error)}); }

bool Simulator::step() {
  auto const links = m_links.next_change();
  if (links && (m_heap.empty() || *links <= m_heap.next())) {
    m_now = *links;
    for (TransferId const transfer : m_links.advance(m_now)) {
      m_heap.push(m_now + delay(m_options.faults.copy_delay), CopyAnswers{transfer});
    }
    return true;
  }
  if (m_heap.empty()) return false;
  auto const [at, happening] = m_heap.pop();
  m_now = at;
  std::visit([&](auto const& what) { happens(what); }, happening);
  return true;
}

SimulationReport Simulator::run() {
  run_until_idle();
  accept(FlushHomes{});
  run_until_idle();
  SimulationReport report{.end = m_now, .workers = {}, .statistics = m_planner.statistics(), .failures = {}};
  for (auto const& lane : m_lanes) report.workers.push_back({lane.busy, lane.tasks});
  report.failures = m_planner.take_failures();
  accepted(ClearFailures{});
  return report;
}

void Simulator::run_until_idle() {
  while (!m_planner.idle()) {
    if (step()) continue;
    throw InternalError("nothing is under way at " + std::to_string(m_now.time_since_epoch().count()) +
                        " ns, but the planner is not done: " + m_planner.describe_waiting());
  }
}

void Simulator::happens(TaskEnds const& end) {
  auto& lane = m_lanes[end.worker.index()];
  TaskId const task = lane.queue.front();
  lane.queue.pop_front();
  lane.busy += end.duration;
  ++lane.tasks;
  if (!lane.queue.empty()) start_front(end.worker);
  if (m_options.faults.tasks.contains(task)) {
    auto error = std::make_exception_ptr(Error("injected failure of task " + std::to_string(task.value())));
    accept(TaskFailed{task, std::move(error)});
  } else {
    accept(TaskDone{task, end.duration});
  }
}

void Simulator::happens(CopyAnswers const& answer) {
  if (m_bad_copies.erase(answer.transfer) == 0) return accept(CopyDone{answer.transfer});
  auto error =
      std::make_exception_ptr(Error("injected failure of transfer " + std::to_string(answer.transfer.value())));
  accept(CopyFailed{answer.transfer, std::move(error)});
}

void Simulator::accept(Event const& event) {
  m_planner.handle(event);
  accepted(event);
}

void Simulator::accepted(Event const& event) {
  if (m_options.on_event) m_options.on_event(m_now, event);
  m_commands.swap(m_planner.commands());
  for (auto const& command : m_commands) {
    if (m_options.on_command) m_options.on_command(m_now, command);
    std::visit([&](auto const& order) { perform(order); }, command);
  }
  m_commands.clear();
  ++m_events;
  auto const every = m_options.check_invariants_every;
  if (every != 0 && m_events % every == 0) m_planner.check_invariants();
}

void Simulator::perform(CopyCommand const& command) {
  if (m_options.faults.copies.contains(m_copies++)) m_bad_copies.insert(command.transfer);
  m_links.start(command.transfer, command.link, command.bytes, m_now);
}

void Simulator::perform(RunCommand const& command) {
  auto& queue = m_lanes[command.worker.index()].queue;
  queue.push_back(command.task);
  if (queue.size() == 1) start_front(command.worker);
}

void Simulator::start_front(WorkerId worker) {
  Task const& task = m_planner.task(m_lanes[worker.index()].queue.front());
  auto const& machine = m_planner.topology().machine();
  Duration const duration = m_truth.kernel_time(task, m_planner.codelet(task.codelet), machine[worker]);
  m_heap.push(m_now + duration + delay(m_options.faults.task_delay), TaskEnds{worker, duration});
}

Duration Simulator::delay(Duration most) {
  return most > Duration{0} ? Duration(m_random.between(0, most.count() - 1)) : Duration{0};
}

}  // namespace granary
