// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace granary {

using namespace detail;

namespace {

void never_called(KernelCall const&) { throw InternalError("a simulation called a kernel"); }

}  // namespace

Simulator::Simulator(Topology topology, PolicySet policies, Estimator& estimator, GroundTruth const& truth,
                     SimulatorOptions options)
    : m_planner(std::move(topology), std::move(policies), estimator, options.planner, options.booking),
      m_truth(truth),
      m_options(std::move(options)),
      m_links(m_planner.topology().machine()),
      m_slow(m_planner.topology().machine(), m_options.slow),
      m_lanes(m_planner.topology().machine().workers.size()),
      m_runs(m_planner.topology().groups().size()),
      m_reloads(m_planner.topology().machine().nodes.size()),
      m_random(m_options.faults.seed) {
  if (m_options.charge_decisions.per_task < Duration{0}) {
    throw InvalidArgument("the cost of a decision is " + std::to_string(m_options.charge_decisions.per_task.count()) +
                          " ns; it must be at least 0");
  }
  m_planner.look_up_parameters([this](TaskId task) -> void const* {
    auto const* const parameters = m_parameters.find(task);
    return parameters != nullptr ? parameters->get() : m_submitted.get();
  });
  m_planner.attach(m_reloads);
  if (auto const& trace = m_options.trace; trace.record) {
    m_recorder = std::make_unique<TraceRecorder>(m_planner.topology().machine(), trace.most_events);
    m_planner.attach(*m_recorder);
  }
  for (auto* const observer : m_options.observers) m_planner.attach(*observer);
}

CodeletId Simulator::add_codelet(Codelet codelet) {
  Codelet const& asked = codelet;
  std::array<Kernel, worker_kinds> kernels{};
  for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
    if (!asked.external && m_truth.runs_on(asked, static_cast<WorkerKind>(kind))) kernels[kind] = never_called;
  }
  codelet.kernels = kernels;
  bool const aborts = dynamic_cast<TaskAborter const*>(&m_planner.scheduler()) != nullptr;
  if (m_options.all_restartable && !codelet.external && aborts) codelet.restartable = true;
  m_planner.set_now(m_now);
  CodeletId const id = m_planner.handle(AddCodelet{std::move(codelet)});
  after_event();
  return id;
}

DataId Simulator::add_data(DataDescription description, std::span<FixedPlace const> places,
                           std::span<SharedBytes const> shares) {
  m_planner.set_now(m_now);
  DataId const id = m_planner.handle(AddData{std::move(description), places, shares});
  after_event();
  return id;
}

void Simulator::release_data(DataId data) { accept(ReleaseData{data}); }

TaskId Simulator::submit(TaskSubmission const& submission, Parameters parameters) {
  m_planner.set_now(m_now);
  m_submitted = std::move(parameters);
  TaskId const id = m_planner.handle(submission);
  auto const& codelet = m_planner.view().codelet(submission.codelet);
  if (codelet.expand != nullptr || codelet.result_bytes != nullptr) m_parameters.create(id, std::move(m_submitted));
  m_submitted.reset();
  if (codelet.stub && m_options.outside != nullptr) m_options.outside->submitted(id);
  after_event();
  if (m_options.outside == nullptr) sleep_after_submission();
  return id;
}

void Simulator::sleep_after_submission() {
  auto const since = m_now;
  while (m_planner.submitter_sleeps() && step()) continue;
  m_slept += m_now - since;
}

void Simulator::cancel_all(std::exception_ptr error) { accept(CancelAll{std::move(error)}); }

// At one instant the links come first, then the shared processors, then what these and others have announced.
bool Simulator::step() {
  if (step_of_links() || step_of_processors()) return true;
  if (m_heap.empty()) return false;
  auto const [at, timed_event] = m_heap.pop();
  advance_to(at);
  std::visit([&](auto const& what) { happens(what); }, timed_event);
  return true;
}

std::optional<Instant> Simulator::next_event() const {
  auto next = m_links.next_change();
  if (auto const end = m_shared.next_end(); end && (!next || *end < *next)) next = end;
  if (!m_heap.empty() && (!next || m_heap.next() < *next)) next = m_heap.next();
  return next;
}

bool Simulator::step_of_links() {
  auto const next = m_links.next_change();
  if (!next || (!m_heap.empty() && m_heap.next() < *next)) return false;
  if (auto const ends = m_shared.next_end(); ends && *ends < *next) return false;
  advance_to(*next);
  for (TransferId const transfer : m_links.advance(m_now)) {
    m_heap.push(m_now + delay(m_options.faults.copy_delay), CopyAnswers{transfer});
  }
  return true;
}

bool Simulator::step_of_processors() {
  auto const next = m_shared.next_end();
  if (!next || (!m_heap.empty() && m_heap.next() < *next)) return false;
  advance_to(*next);
  for (auto const& [worker, start] : m_shared.advance(m_now)) {
    m_heap.push(m_now + delay(m_options.faults.task_delay),
                TaskEnds{worker, m_now - start, start, m_lanes[worker.index()].run});
  }
  return true;
}

void Simulator::advance_to(Instant at) {
  if (at >= Instant(longest_duration)) {
    throw InvalidArgument("the simulated run takes more than 146 years, the limit of virtual time");
  }
  m_now = at;
}

SimulationReport Simulator::run() {
  run_until_idle();
  flush();
  run_until_idle();
  if (m_planner.policy_fault()) std::rethrow_exception(m_planner.policy_fault());
  return report();
}

SimulationReport Simulator::report() {
  auto const& machine = m_planner.topology().machine();
  SimulationReport report;
  report.end = m_now;
  report.statistics = m_planner.statistics();
  for (auto const& lane : m_lanes) {
    report.workers.push_back({lane.busy, m_now - Instant{} - lane.busy, lane.tasks, lane.inner_tasks});
  }
  for (std::size_t l = 0; l < machine.links.size(); ++l) {
    auto& kind = report.traffic[static_cast<std::size_t>(transfer_kind(machine, machine.links[l]))];
    kind.transfers += report.statistics.links[l].transfers;
    kind.bytes += report.statistics.links[l].bytes;
  }
  for (auto const& node : report.statistics.nodes) report.evictions += node.evictions;
  report.reloads = m_reloads.reloads();
  report.reload_bytes = m_reloads.bytes();
  report.decision_time = m_decision_time;
  report.submission_slept = m_slept;
  report.failures = m_planner.handle(TakeFailures{});
  after_event();
  return report;
}

void Simulator::run_until_idle() {
  while (!idle()) {
    if (step()) continue;
    throw InternalError("no event is pending at " + std::to_string(m_now.time_since_epoch().count()) +
                        " ns, but the planner is not done: " + m_planner.inspect().describe_waiting());
  }
}

void Simulator::happens(CopyAnswers const& copy) {
  bool const fails = !m_bad_copies.empty() && m_bad_copies.erase(copy.transfer) > 0;
  if (!fails) return answer(CopyDone{copy.transfer, m_now});
  auto error = std::make_exception_ptr(Error("injected failure of transfer " + std::to_string(copy.transfer.value())));
  answer(CopyFailed{copy.transfer, std::move(error), m_now});
}

void Simulator::happens(DecisionEnds const&) {
  m_deciding = false;
  m_planner.set_now(m_now);
  perform_commands();
  while (!m_deciding && !m_inbox.empty()) {
    Event const next = std::move(m_inbox.front());
    m_inbox.pop_front();
    decide(next);
  }
}

// Reports of workers and links; handled at once when decisions are free.
void Simulator::answer(Event event) {
  if (m_options.charge_decisions.kind == DecisionCost::Kind::None) {
    accept(event);
  } else if (m_deciding) {
    m_inbox.push_back(std::move(event));
  } else {
    decide(event);
  }
}

void Simulator::decide(Event const& event) {
  auto const committed = m_planner.statistics().tasks_committed;
  auto const begin = std::chrono::steady_clock::now();
  m_planner.set_now(m_now);
  m_planner.handle(event);
  auto const wall = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begin);
  Duration const cost = charged(wall, m_planner.statistics().tasks_committed - committed);
  m_decision_time += cost;
  m_deciding = cost > Duration{0};
  if (m_deciding) m_heap.push(m_now + cost, DecisionEnds{});
  after_event();
}

Duration Simulator::charged(Duration wall, std::uint64_t committed) const {
  auto const& cost = m_options.charge_decisions;
  if (cost.kind == DecisionCost::Kind::Measured) return wall;
  auto const tasks = static_cast<Duration::rep>(committed);
  return tasks == 0 ? Duration{0} : std::min<Duration>(cost.per_task, longest_duration / tasks) * tasks;
}

void Simulator::accept(Event const& event) {
  m_planner.set_now(m_now);
  m_planner.handle(event);
  after_event();
}

void Simulator::after_event() {
  if (!m_deciding) perform_commands();
  ++m_events;
  auto const every = m_options.check_invariants_every;
  if (every != 0 && m_events % every == 0) m_planner.inspect().check_invariants();
}

void Simulator::perform_commands() {
  m_planner.take_commands(m_commands);
  for (auto const& command : m_commands) {
    std::visit([&](auto const& order) { perform(order); }, command);
  }
  for (auto const worker : m_given) start_front(worker);
  m_given.clear();
  share_inner_tasks();
}

void Simulator::perform(CopyCommand const& command) {
  if (m_options.faults.copies.contains(m_copies++)) m_bad_copies.insert(command.transfer);
  bool const received = command.from.node == m_planner.topology().peers();
  if (received && m_options.outside != nullptr) return m_options.outside->receive(command);
  m_links.start(command.transfer, command.link, command.bytes, m_now);
}

void Simulator::perform(BeginCommand const& command) {
  if (m_options.outside != nullptr) m_options.outside->begin(command);
}

void Simulator::perform(ShipCommand const& command) {
  if (m_options.outside != nullptr) m_options.outside->ship(command);
}

void Simulator::perform(RetireCommand const& command) {
  if (m_parameters.find(command.task) != nullptr) m_parameters.erase(command.task);
  if (m_options.outside != nullptr) m_options.outside->retire(command, m_planner.failure_of(command.task));
}

void Simulator::perform(ForgetCommand const& command) {
  if (m_options.outside != nullptr) m_options.outside->forget(command);
}

Duration Simulator::delay(Duration most) {
  return most > Duration{0} ? Duration(m_random.between(0, most.count() - 1)) : Duration{0};
}

}  // namespace granary
