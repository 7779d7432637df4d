// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/engine.hpp>

#include <granary/core/base/error.hpp>
#include <granary/core/engine/device_driver.hpp>
#include <granary/core/engine/host_worker.hpp>

#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

namespace granary {

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
  if (auto const* const cancelled = std::get_if<CancelAll>(&event)) return cancelled->error;
  return nullptr;
}

}  // namespace

// Calls the function under the planner's lock; afterwards what threads reported meanwhile is applied, and all commands
// are performed.
template <class Function>
auto Engine::hold_lock(Function&& function) {
  m_lock.lock();
  auto const release = [this, hold = m_accounts.caller_enters()] {
    leave(hold);
    try_drain();
  };
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
      function();
      release();
    } else {
      auto result = function();
      release();
      return result;
    }
  } catch (...) {
    release();
    throw;
  }
}

// As hold_lock, for events of callers.
template <class Function>
auto Engine::apply(Function&& function) {
  return hold_lock([&] {
    if (m_broken) std::rethrow_exception(m_broken);
    m_planner.set_now(m_accounts.now());
    return function();
  });
}

template <class Condition>
void Engine::sleep_until(Sleepers& sleepers, Condition&& met) {
  sleepers.sleep_until([this](auto&& look) { return this->hold_lock(look); }, met, m_mailbox.spin());
}

Engine::Engine(Topology topology, PolicySet policies, std::unique_ptr<Estimator> estimator,
               EngineBackends const& backends, EngineOptions options)
    : m_devices(backends.devices),
      m_estimator(std::move(estimator)),
      m_mailbox([this] { try_drain(); }, options.spin),
      m_planner(std::move(topology), std::move(policies), *m_estimator, options.planner),
      m_records{.journal = Journal(options.record_journal ? m_estimator->copy() : nullptr), .trace = nullptr},
      m_data(check_workers(m_planner.topology().machine(), backends), backends.memories),
      m_copies(m_planner.topology().machine(), backends.copies,
               [this](TransferId transfer, std::exception_ptr error) { copy_ended(transfer, std::move(error)); }),
      m_lanes(m_planner.topology(), options.planner.issue_depth),
      m_accounts(m_planner.topology().machine()),
      m_callers{.most_live_tasks = options.max_live_tasks} {
  if (options.record_journal) m_planner.attach(m_records.journal);
  if (auto const& trace = options.trace; trace.record) {
    m_records.trace = std::make_unique<TraceRecorder>(m_planner.topology().machine(), trace.most_events);
    m_planner.attach(*m_records.trace);
  }
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
        HostWorker(lane, *host, m_mailbox, m_lanes.stopping()).run();
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

// Releases the lock.
void Engine::leave(Accounts::Hold hold) noexcept {
  Afterwards after;
  if (m_mailbox.seems_pending()) hold = hold.stands_for > 0 ? Accounts::Hold{hold.since, 1} : Accounts::drain_begins();
  drain(after);
  m_accounts.leave(hold, m_planner, m_lanes, m_copies.active());
  bool const freed = m_data.take_freed();
  after.wake_idle = m_callers.until_idle.any() && (freed || m_broken || m_planner.idle());
  after.wake_fewer = m_callers.until_fewer.any() && (m_broken || after.cancelled || few_tasks());
  if (after.wake_idle) m_callers.until_idle.announce();
  if (after.wake_fewer) m_callers.until_fewer.announce();
  if (m_data.has_dropped() && EngineScope::current() == nullptr) after.dropped_objects = m_data.take_dropped();
  m_lock.unlock();
  finish(after);
}

void Engine::finish(Afterwards& after) {
  if (after.wake_idle) m_callers.until_idle.wake();
  if (after.wake_fewer) m_callers.until_fewer.wake();
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
  } else if (end.error) {
    m_planner.handle(TaskFailed{end.task, end.error, times});
    after.dropped_errors.push_back(std::exchange(end.error, nullptr));
  } else {
    m_planner.handle(TaskDone{end.task, end.duration, times});
  }
}

void Engine::answer(Event& event, Afterwards& after) {
  if (std::holds_alternative<CopyDone>(event) || std::holds_alternative<CopyFailed>(event)) m_copies.count_as_ended();
  if (std::holds_alternative<CancelAll>(event)) {
    ++m_callers.cancels;
    after.cancelled = true;
  }
  if (auto error = error_of(event)) after.dropped_errors.push_back(std::move(error));
  m_planner.handle(event);
}

void Engine::perform(Afterwards& after) {
  if (m_planner.commands().empty()) return;
  m_planner.take_commands(m_commands);
  for (auto const& command : m_commands) {
    if (auto const* const run = std::get_if<RunCommand>(&command)) {
      m_lanes.hand_over(*run, m_planner, m_data);
    } else if (auto const* const retired = std::get_if<RetireCommand>(&command)) {
      m_data.retire(retired->task);
    } else if (auto const* const copy = std::get_if<CopyCommand>(&command)) {
      after.copies.push_back(m_copies.prepare(*copy, m_data.request(*copy)));
    } else if (auto const* const forgotten = std::get_if<ForgetCommand>(&command)) {
      m_data.forget(forgotten->data);
      m_copies.forget(forgotten->data);
    }
  }
  m_lanes.publish(m_planner, after.to_wake);
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

CodeletId Engine::add_codelet(Codelet codelet) {
  if (codelet.external)
    throw InvalidArgument("codelet '" + codelet.name + "' is external: the engine begins no such task");
  if (m_devices) codelet.kernels[static_cast<std::size_t>(WorkerKind::Device)] = m_devices->kernel_of(codelet);
  CodeletKey key(codelet.name, codelet.variant, codelet.kernels, codelet.launches_kokkos_kernels, codelet.expand,
                 codelet.check, codelet.restartable);
  return apply([&] {
    if (auto const known = m_codelets.find(key); known != m_codelets.end()) return known->second;
    if (codelet.expand != nullptr) m_lanes.expect_expansions();
    auto const added = m_planner.handle(AddCodelet{std::move(codelet)});
    m_codelets.emplace(std::move(key), added);
    return added;
  });
}

DataId Engine::add_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind) {
  return apply([&] { return register_data(std::move(description), std::move(binding), bind); });
}

DataId Engine::register_data(DataDescription description, HostBinding binding,
                             std::function<void(DataId)> const& bind) {
  auto const added = m_planner.handle(AddData{std::move(description)});
  m_data.bind(added, std::move(binding));
  if (bind) bind(added);
  return added;
}

SharedData Engine::add_host_data(DataDescription description, HostBinding binding, ByteSet bytes) {
  return apply([&] {
    if (auto const known = m_data.find(bytes, binding); known.valid()) {
      m_planner.handle(RetainData{known});
      return SharedData{known, m_data.share(known, std::move(binding))};
    }
    auto keep = binding.keep;
    auto const added = register_data(std::move(description), std::move(binding), nullptr);
    m_data.add_bytes(added, std::move(bytes));
    return SharedData{added, std::move(keep)};
  });
}

void Engine::release_data(DataId data) {
  apply([&] { m_planner.handle(ReleaseData{data}); });
}

bool Engine::full() const {
  return m_callers.most_live_tasks > 0 && m_planner.live_tasks() >= m_callers.most_live_tasks;
}

TaskId Engine::submit(TaskSubmission const& submission, Parameters parameters) {
  bool too_many = false;
  std::uint64_t cancels = 0;
  auto const must_wait = [&] { return m_data.any_overlap() && m_data.must_wait(submission, m_planner, works_here()); };
  auto const submit_now = [&] {
    if (must_wait()) return TaskId();
    auto const task = m_planner.handle(submission);
    m_data.add_task(task, std::move(parameters));
    m_accounts.submitted(submission, m_planner);
    too_many = full();
    cancels = m_callers.cancels;
    return task;
  };
  auto id = apply(submit_now);
  while (!id.valid()) {
    sleep_until(m_callers.until_idle, [&] { return m_broken || !must_wait(); });
    id = apply(submit_now);
  }
  if (too_many && EngineScope::current() == nullptr) {
    // The planner never depends on later actions of its user, so the live tasks end by themselves.
    sleep_until(m_callers.until_fewer, [&] { return m_broken || m_callers.cancels != cancels || few_tasks(); });
  }
  return id;
}

void Engine::wait_until_idle() {
  sleep_until(m_callers.until_idle, [this] { return !m_mailbox.pending() && (m_broken || m_planner.idle()); });
}

void Engine::refuse_in_task(std::string_view what) const {
  if (!works_here()) return;
  throw InvalidArgument(std::string(what) +
                        " cannot be called inside a task of the same Runtime: it would wait for itself");
}

void Engine::wait() {
  refuse_in_task("wait()");
  wait_until_idle();
  apply([&] { m_planner.handle(FlushHomes{}); });
  wait_until_idle();
  auto failures = apply([&] { return m_planner.failed() ? m_planner.handle(TakeFailures{}) : std::vector<Failure>{}; });
  if (failures.empty()) return;
  m_reported = std::move(failures);
  std::rethrow_exception(m_reported.front().error);
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
  hold_lock([&] { m_accounts.fill(statistics, m_planner); });
  return statistics;
}

Trace Engine::trace() {
  if (!m_records.trace) return {};
  return hold_lock([&] { return m_records.trace->trace(); });
}

std::string Engine::describe() {
  return apply([&] { return m_planner.describe_waiting(); });
}

}  // namespace granary
