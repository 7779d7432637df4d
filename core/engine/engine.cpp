// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/engine/device_driver.hpp>
#include <granary/detail/core/engine/host_worker.hpp>
#include <granary/detail/core/planner/inspection.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace granary::detail {

namespace {

Machine const& check_workers(Machine const& machine, EngineBackends const& backends) {
  for (auto const& worker : machine.workers) {
    if (worker.kind == WorkerKind::Cpu ? backends.workers != nullptr : backends.devices != nullptr) continue;
    throw InvalidArgument("worker '" + worker.name + "' has no backend for its kernels");
  }
  return machine;
}

std::exception_ptr error_of(Event const& event) {
  if (auto const* const failed = std::get_if<CopyFailed>(&event)) return failed->error;
  if (auto const* const failed = std::get_if<TaskFailed>(&event)) return failed->error;
  if (auto const* const cancelled = std::get_if<CancelAll>(&event)) return cancelled->error;
  return nullptr;
}

}  // namespace

Engine::Engine(Topology topology, PolicySet policies, std::unique_ptr<Estimator> estimator,
               EngineBackends const& backends, EngineOptions const& options)
    : m_devices(backends.devices),
      m_estimator(std::move(estimator)),
      m_mailbox([this] { try_drain(); }, options.spin),
      m_planner(std::move(topology),
                options.record_journal ? std::move(policies) : m_background.serve(std::move(policies)), *m_estimator,
                options.planner, options.booking),
      m_records{.journal = Journal(options.record_journal ? m_estimator->copy() : nullptr), .trace = nullptr},
      m_data(check_workers(m_planner.topology().machine(), backends), backends.memories),
      m_copies(m_planner.topology().machine(), backends.copies,
               [this](TransferId transfer, std::exception_ptr error) { copy_ended(transfer, std::move(error)); }),
      m_lanes(m_planner.topology(), options.planner.issue_depth),
      m_accounts(m_planner.topology().machine()),
      m_outside(*this, [this](TaskId task, std::exception_ptr error) { outside_ended(task, std::move(error)); }),
      m_others(options.outside) {
  m_planner.look_up_parameters([this](TaskId task) { return m_data.parameters(task); });
  if (options.record_journal) m_planner.attach(m_records.journal);
  if (auto const& trace = options.trace; trace.record) {
    m_records.trace = std::make_unique<TraceRecorder>(m_planner.topology().machine(), trace.most_events);
    m_planner.attach(*m_records.trace);
  }
  for (auto* const observer : options.observers) m_planner.attach(*observer);
  detail::stop_work_at_exit();
  start_threads(backends);
}

Engine::~Engine() {
  if (works_here()) std::terminate();
  hold_lock([this] {
    if (m_planner.live_tasks() == 0 || m_broken) return;
    m_mailbox.post(CancelAll{std::make_exception_ptr(Error("the Runtime was destroyed before the task ran"))});
  });
  wait_until_idle();
  auto const drop = [this] { return hold_lock([this] { return m_data.take_dropped(); }); };
  while (!drop().empty()) continue;
  wait_until_idle();  // for what destructors released
  m_copies.wait();
  m_lanes.stop();
}

void Engine::start_threads(EngineBackends const& backends) {
  m_lanes.start(
      topology().machine(),
      [this, host = backends.workers](WorkerLane& lane) {
        EngineScope const scope(this);
        HostWorker(lane, *host, m_mailbox, m_lanes.stopping(), [&] { recall_for(lane); }).run();
      },
      [this](LaneThread& thread) {
        EngineScope const scope(this);
        DeviceDriver(thread, *m_devices, m_mailbox, m_lanes.stopping()).run();
      });
}

// A thread that fails to take the lock may leave: the holder checks for events again after it has released the lock.
void Engine::try_drain() {
  while (m_mailbox.pending()) {
    if (!m_lock.try_lock()) return;
    leave(Accounts::drain_begins());
  }
}

// A worker that others have taken the processor from may hold tasks for milliseconds. A thread that has nothing else to
// do runs them, or tasks that they release. A run at rest stays so.
void Engine::recall_for(WorkerLane const& idle) {
  if (!m_lock.try_lock()) return;
  try {
    if (!m_broken && m_planner.live_tasks() > 0) {
      m_planner.set_now(m_accounts.now());
      if (m_planner.absent(idle.id)) m_planner.handle(WorkerBack{idle.id});
      m_lanes.recall(idle, topology(), [&](TaskId task) { m_planner.handle(TaskReturned{task}); });
    }
  } catch (...) {
    m_broken = std::current_exception();
  }
  leave(Accounts::drain_begins());
  try_drain();
}

// Releases the lock.
void Engine::leave(Accounts::Hold hold) noexcept {
  Afterwards after;
  if (m_mailbox.seems_pending()) hold = hold.stands_for > 0 ? Accounts::Hold{hold.since, 1} : Accounts::drain_begins();
  drain(after);
  m_accounts.leave(hold, m_planner, m_lanes, m_copies.active());
  after.wake = m_callers.sleepers.announce();
  if (m_data.has_dropped() && EngineScope::current() == nullptr) after.dropped_objects = m_data.take_dropped();
  m_lock.unlock();
  finish(after);
}

void Engine::finish(Afterwards& after) {
  if (after.wake) m_callers.sleepers.wake();
  for (auto* const bell : after.to_wake) bell->sleeping.notify_one();
  for (auto const& job : after.copies) m_copies.start(job);
}

void Engine::drain(Afterwards& after) {
  try {
    if (!m_broken) perform(after);
    while (m_mailbox.seems_pending()) {
      m_mailbox.count_as_applied();
      if (m_broken) return;
      m_planner.set_now(m_accounts.now());
      m_lanes.take_results([&](TaskEnd& end) { answer(end, after); }, [&] { perform(after); });
      for (auto& event : m_mailbox.take()) {
        answer(event, after);
        perform(after);
      }
    }
  } catch (...) {
    m_broken = std::current_exception();
  }
}

void Engine::answer(TaskEnd& end, Afterwards& after) {
  TaskTimes const times{m_accounts.since_start(end.begin), m_accounts.since_start(end.end), end.blocked};
  if (end.skipped) {
    m_planner.handle(TaskSkipped{end.task});
  } else if (end.stopped) {
    m_planner.handle(TaskReturned{end.task, end.changed, times});
  } else if (end.error) {
    m_planner.handle(TaskFailed{end.task, end.error, times});
    after.dropped_errors.push_back(std::exchange(end.error, nullptr));
  } else if (auto const* const beyond = end.beyond_its_room()) {
    m_planner.handle(TaskFailed{end.task, beyond_its_room(end.task, *beyond), times});
  } else {
    for (auto const& made : end.made) m_planner.handle(Sized{end.task, made.data, made.bytes});
    m_planner.handle(TaskDone{end.task, end.duration, times});
  }
}

std::exception_ptr Engine::beyond_its_room(TaskId task, MadeBytes const& made) const {
  auto const& codelet = m_planner.view().codelet(m_planner.view().task(task).codelet);
  return std::make_exception_ptr(InvalidArgument("task '" + codelet.name + "' has left " + std::to_string(made.bytes) +
                                                 " bytes in '" + m_planner.view().description(made.data).name +
                                                 "', which has room for " + std::to_string(made.room)));
}

void Engine::answer(Event& event, Afterwards& after) {
  if (std::holds_alternative<CopyDone>(event) || std::holds_alternative<CopyFailed>(event)) m_copies.count_as_ended();
  if (std::holds_alternative<CancelAll>(event)) ++m_callers.cancels;
  if (auto error = error_of(event)) after.dropped_errors.push_back(std::move(error));
  m_planner.handle(event);
}

void Engine::perform(Afterwards& after) {
  if (m_planner.commands().empty()) return;
  m_planner.take_commands(m_commands);
  for (auto const& command : m_commands) {
    if (auto const* const run = std::get_if<RunCommand>(&command)) {
      m_lanes.hand_over(*run, m_planner.view(), m_data);
    } else if (auto const* const abort = std::get_if<AbortCommand>(&command)) {
      m_lanes.stop(*abort);
    } else if (auto const* const retired = std::get_if<RetireCommand>(&command)) {
      m_data.retire(retired->task);
      if (m_others != nullptr) m_others->retire(*retired, m_planner.failure_of(retired->task));
    } else if (auto const* const begun = std::get_if<BeginCommand>(&command)) {
      if (auto const* const ended = m_data.parameters(begun->task)) {
        m_outside.begin(begun->task, *static_cast<OutsideWork::Ended const*>(ended));
      } else {
        others().begin(*begun);
      }
    } else if (auto const* const shipped = std::get_if<ShipCommand>(&command)) {
      others().ship(*shipped);
    } else if (auto const* const copy = std::get_if<CopyCommand>(&command)) {
      if (topology().machine()[copy->from.node].kind == NodeKind::Peers) {
        m_copies.count_as_begun();
        others().receive(*copy);
      } else {
        after.copies.push_back(m_copies.prepare(*copy, m_data.request(*copy)));
      }
    } else if (auto const* const forgotten = std::get_if<ForgetCommand>(&command)) {
      m_data.forget(forgotten->data);
      m_copies.forget(forgotten->data);
      if (m_others != nullptr) m_others->forget(*forgotten);
    }
  }
  m_lanes.publish(m_planner, after.to_wake);
}

OutsideCommands& Engine::others() const {
  if (m_others == nullptr) throw InternalError("other processes are to do something, but this engine has none");
  return *m_others;
}

void Engine::copy_ended(TransferId transfer, std::exception_ptr error) {
  EngineScope const scope(this);
  auto const ended = m_accounts.now();
  if (error) {
    m_mailbox.post_if_lost(error);
    m_mailbox.post(CopyFailed{transfer, std::move(error), ended});
  } else {
    m_mailbox.post(CopyDone{transfer, ended});
  }
  try_drain();
}

void Engine::outside_ended(TaskId task, std::exception_ptr error) {
  if (error) {
    m_mailbox.post_if_lost(error);
    m_mailbox.post(TaskFailed{task, std::move(error)});
  } else {
    m_mailbox.post(TaskDone{.task = task});
  }
  try_drain();
}

CodeletId Engine::add_codelet(Codelet codelet) {
  if (m_devices && !codelet.external)
    codelet.kernels[static_cast<std::size_t>(WorkerKind::Device)] = m_devices->kernel_of(codelet);
  CodeletKey key(codelet.name, codelet.variant, codelet.kernels, codelet.launches_kokkos_kernels, codelet.expand,
                 codelet.check, codelet.restartable, codelet.external, codelet.stub, codelet.result_bytes);
  return apply([&] {
    if (auto const known = m_codelets.find(key); known != m_codelets.end()) return known->second;
    if (codelet.expand != nullptr) m_lanes.expect_expansions();
    if (codelet.external) m_outside.expect();
    auto const added = m_planner.handle(AddCodelet{std::move(codelet)});
    m_codelets.emplace(std::move(key), added);
    return added;
  });
}

Engine::Accepted Engine::accept(TaskSubmission const& submission, Parameters& parameters) {
  m_data.adding_task(parameters);
  auto const task = m_planner.handle(submission);
  if (m_others != nullptr && m_planner.view().codelet(submission.codelet).stub) m_others->submitted(task);
  m_data.add_task(task, std::move(parameters));
  m_accounts.submitted(submission, m_planner);
  return {task, asleep_at()};
}

TaskId Engine::submit(TaskSubmission const& submission, Parameters parameters) {
  auto const [id, asleep_at] = apply([&] { return accept(submission, parameters); });
  if (asleep_at) sleep_after_submission(*asleep_at);
  return id;
}

std::optional<TaskId> Engine::submit_while(std::atomic<std::uint64_t> const& counter, std::uint64_t expected,
                                           TaskSubmission const& submission, Parameters& parameters) {
  auto const accepted = apply([&]() -> std::optional<Accepted> {
    if (counter.load() != expected) return std::nullopt;
    return accept(submission, parameters);
  });
  if (!accepted) return std::nullopt;
  if (accepted->asleep_at) sleep_after_submission(*accepted->asleep_at);
  return accepted->task;
}

TaskId Engine::submit_at_once(TaskSubmission const& submission, Parameters parameters) {
  return apply([&] { return accept(submission, parameters).task; });
}

void Engine::check(TaskSubmission const& submission) {
  apply([&] { m_planner.check(submission); });
}

void Engine::cancel(std::exception_ptr error) {
  m_mailbox.post(CancelAll{std::move(error)});
  try_drain();
}

// Not const, because every holder of the lock drains the events posted meanwhile.
EngineStatistics Engine::statistics() {
  EngineStatistics statistics;
  auto const elapsed = m_accounts.now().time_since_epoch();
  for (auto const& lane : m_lanes.all()) {
    Duration const busy(lane->busy_nanoseconds.load(std::memory_order_relaxed));
    Duration const blocked(lane->blocked_nanoseconds.load(std::memory_order_relaxed));
    statistics.workers.push_back({.tasks = lane->tasks.load(std::memory_order_relaxed),
                                  .busy = busy,
                                  .blocked = blocked,
                                  .idle = elapsed - busy - blocked,
                                  .expanded = lane->expanded.load(std::memory_order_relaxed),
                                  .inner_tasks = lane->inner_tasks.load(std::memory_order_relaxed)});
  }
  hold_lock([&] {
    m_accounts.fill(statistics, m_planner);
    statistics.submission_slept = m_callers.slept;
  });
  return statistics;
}

Trace Engine::trace() {
  if (!m_records.trace) return {};
  return hold_lock([&] { return m_records.trace->trace(); });
}

void Engine::between_events(std::function<void()> const& function) { hold_lock(function); }

std::string Engine::describe() {
  return apply([&] { return m_planner.inspect().describe_waiting(); });
}

}  // namespace granary::detail
