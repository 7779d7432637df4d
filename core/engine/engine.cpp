// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/engine.hpp>

#include <granary/core/base/error.hpp>
#include <granary/core/engine/engine_section.hpp>
#include <granary/core/engine/pool.hpp>
#include <granary/core/planner/driver_rules.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace granary {

namespace {

constexpr std::uint32_t sampled_sections = 16;

std::vector<std::shared_ptr<NodeMemory>> take_memories(Machine const& machine,
                                                       std::vector<std::shared_ptr<NodeMemory>> memories) {
  memories.resize(machine.nodes.size());
  for (std::size_t n = 0; n < memories.size(); ++n) {
    auto const& node = machine.nodes[n];
    if (node.kind == NodeKind::Disk) continue;
    if (node.capacity >= unbounded) throw InvalidArgument("memory node '" + node.name + "' needs a stated capacity");
    if (memories[n]) continue;
    if (node.kind == NodeKind::Device) throw InvalidArgument("memory node '" + node.name + "' has no memory backend");
    memories[n] = std::make_shared<Pool>(node.name, node.capacity);
  }
  return memories;
}

std::vector<std::byte*> bases_of(std::vector<std::shared_ptr<NodeMemory>> const& memories) {
  std::vector<std::byte*> bases;
  for (auto const& memory : memories) bases.push_back(memory ? memory->base() : nullptr);
  return bases;
}

std::string name_of_link(Machine const& machine, Link const& link) {
  return "'" + machine[link.from].name + "' to '" + machine[link.to].name + "'";
}

EngineBackends check_backends(EngineBackends backends, Machine const& machine) {
  for (auto const& worker : machine.workers) {
    if (worker.kind == WorkerKind::Cpu ? backends.workers != nullptr : backends.devices != nullptr) continue;
    throw InvalidArgument("worker '" + worker.name + "' has no backend for its kernels");
  }
  backends.copies.resize(machine.links.size());
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    if (!backends.copies[i]) {
      throw InvalidArgument("the link from " + name_of_link(machine, machine.links[i]) +
                            " has no backend for its copies");
    }
  }
  return backends;
}

std::exception_ptr error_of(Event const& event) {
  if (auto const* const failed = std::get_if<CopyFailed>(&event)) return failed->error;
  if (auto const* const cancelled = std::get_if<CancelAll>(&event)) return cancelled->error;
  return nullptr;
}

NodeId largest_device(Machine const& machine) {
  NodeId largest;
  for (auto const& worker : machine.workers) {
    if (worker.kind != WorkerKind::Device) continue;
    if (!largest.valid() || machine[worker.node].capacity > machine[largest].capacity) largest = worker.node;
  }
  return largest;
}

}  // namespace

Engine::Engine(Topology topology, PolicySet policies, std::unique_ptr<Estimator> estimator, EngineBackends backends,
               EngineOptions options)
    : m_options(options),
      m_backends(check_backends(std::move(backends), topology.machine())),
      m_estimator(std::move(estimator)),
      m_planner(std::move(topology), std::move(policies), *m_estimator, options.planner),
      m_memories(take_memories(m_planner.topology().machine(), m_backends.memories)),
      m_addresses(bases_of(m_memories)) {
  m_unfit_device = largest_device(m_planner.topology().machine());
  if (m_options.record_journal) m_journal.estimator = m_estimator->copy();
  auto const& trace = m_options.trace;
  if (trace.record) m_recorder = std::make_unique<TraceRecorder>(m_planner, trace.most_events);
  auto const& workers = m_planner.topology().machine().workers;
  LaneThread* driver = nullptr;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    auto* thread = driver;
    if (workers[w].kind == WorkerKind::Cpu || driver == nullptr) {
      thread = m_threads.emplace_back(std::make_unique<LaneThread>()).get();
      if (workers[w].kind == WorkerKind::Device) driver = thread;
    }
    // The limit of a worker's tasks, plus one cell: the worker takes a task out only after it ran.
    m_lanes.push_back(std::make_unique<WorkerLane>(WorkerId(static_cast<std::uint32_t>(w)), thread->bell,
                                                   options.planner.issue_depth + 1));
    thread->lanes.push_back(m_lanes.back().get());
  }
  make_inner_pools();
  m_touched.reserve(workers.size());
  start_threads();
}

Engine::~Engine() {
  if (works_here()) std::terminate();
  {
    Section section(*this);
    if (m_planner.live_tasks() > 0 && !m_broken) {
      auto const error = std::make_exception_ptr(Error("the Runtime was destroyed before the task ran"));
      m_events.push(CancelAll{error});
      m_pending.fetch_add(1);
    }
  }
  wait_until_idle();
  while (!take_dropped().empty()) {
  }
  wait_until_idle();  // for what destructors released
  while (m_under_way.load() != 0) std::this_thread::yield();
  stop_threads();
}

Engine::Dropped Engine::take_dropped() {
  std::lock_guard const lock(m_lock);
  return std::exchange(m_dropped, Dropped());
}

Engine::Section::Section(Engine& engine) : m_engine(engine) {
  engine.m_lock.lock();
  m_measured = engine.m_sections++ % sampled_sections == 0;
  if (m_measured) m_entered = Clock::now();
}

Engine::Section::Section(Engine& engine, AlreadyLocked) : m_engine(engine), m_entered(Clock::now()), m_measured(true) {}

Engine::Section::~Section() {
  auto& engine = m_engine;
  bool const sampled = m_measured && engine.m_pending.load(std::memory_order_relaxed) == 0;
  if (!m_measured && engine.m_pending.load(std::memory_order_relaxed) != 0) {
    m_measured = true;
    m_entered = Clock::now();
  }
  engine.drain(*this);
  if (m_measured || engine.m_copies > 0 || engine.m_idle_for_data > 0) {
    auto const now = Clock::now();
    if (m_measured) engine.m_decided += (now - m_entered) * (sampled ? sampled_sections : 1);
    engine.account_waiting(now);
  }
  bool const freed = std::exchange(engine.m_bytes_freed, false);
  bool const tell_waiters = engine.m_waiters > 0 && (freed || engine.m_broken || engine.m_planner.idle());
  if (tell_waiters) engine.m_idle_epoch.fetch_add(1);
  bool const tell_submitters =
      engine.m_submitters > 0 && engine.goes_on(std::exchange(engine.m_cancels_told, engine.m_cancels));
  if (tell_submitters) engine.m_fewer_epoch.fetch_add(1);
  Dropped to_drop;
  if (!engine.m_dropped.empty() && EngineScope::current() == nullptr)
    to_drop = std::exchange(engine.m_dropped, Dropped());
  engine.m_lock.unlock();
  if (tell_waiters) engine.m_idle_epoch.notify_all();
  if (tell_submitters) engine.m_fewer_epoch.notify_all();
  for (auto* bell : to_wake) bell->sleeping.notify_one();
  if (!copies.empty()) engine.start_copies(*this);
}

void Engine::refuse_in_task(std::string_view what) const {
  if (!works_here()) return;
  throw InvalidArgument(std::string(what) +
                        " cannot be called inside a task of the same Runtime: it would wait for itself");
}

bool Engine::full() const {
  auto const limit = m_options.max_live_tasks;
  return limit > 0 && m_planner.live_tasks() >= limit;
}

bool Engine::goes_on(std::uint64_t cancels) const {
  return m_broken || m_cancels != cancels || m_planner.live_tasks() <= tasks_left(m_options.max_live_tasks);
}

void Engine::rethrow_if_broken() const {
  if (m_broken) std::rethrow_exception(m_broken);
}

void Engine::record(Event event) {
  if (!m_options.record_journal) return;
  auto const& commands = m_planner.commands();
  m_journal.commands.insert(m_journal.commands.end(), commands.begin() + static_cast<std::ptrdiff_t>(m_recorded),
                            commands.end());
  m_recorded = commands.size();
  m_journal.entries.push_back({m_planner.view().now(), std::move(event), m_journal.commands.size()});
}

CodeletId Engine::add_codelet(Codelet codelet) {
  if (m_backends.devices) {
    codelet.kernels[static_cast<std::size_t>(WorkerKind::Device)] = m_backends.devices->kernel_of(codelet);
  }
  CodeletKey key(codelet.name, codelet.variant, codelet.kernels, codelet.launches_kokkos_kernels, codelet.expand,
                 codelet.check);
  auto const id = apply([&](Section& section) {
    if (auto const known = m_codelets.find(key); known != m_codelets.end()) return known->second;
    auto const added = m_planner.add_codelet(codelet);
    m_codelets.emplace(std::move(key), added);
    m_expands = m_expands || codelet.expand != nullptr;
    if (m_recorder) m_recorder->codelet_added(codelet);
    record(AddCodelet{std::move(codelet)});
    perform(section);
    return added;
  });
  try_drain();
  return id;
}

DataId Engine::add_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind) {
  auto const id =
      apply([&](Section& section) { return register_data(section, std::move(description), std::move(binding), bind); });
  try_drain();
  return id;
}

DataId Engine::register_data(Section& section, DataDescription description, HostBinding binding,
                             std::function<void(DataId)> const& bind) {
  auto const added = m_planner.add_data(description);
  m_addresses.bind(added, std::move(binding));
  if (bind) bind(added);
  if (m_recorder) m_recorder->data_added(added);
  record(AddData{std::move(description)});
  perform(section);
  return added;
}

void Engine::release_data(DataId data) {
  apply([&](Section& section) {
    m_planner.release_data(data);
    record(ReleaseData{data});
    perform(section);
  });
  try_drain();
}

TaskId Engine::submit(TaskSubmission const& submission, Parameters parameters) {
  bool too_many = false;
  std::uint64_t cancels = 0;
  auto const submit_now = [&](Section& section) {
    if (m_bytes.any_overlap() && bytes_in_use(submission)) return TaskId();
    auto const task = m_planner.submit(submission);
    if (m_unfit_device.valid()) note_device_need(submission);
    m_parameters.create(task, std::move(parameters));
    if (m_recorder) m_recorder->submitted(task, submission.index);
    m_prioritised = m_prioritised || submission.priority != 0;
    if (m_options.record_journal) {
      record(SubmitTask{submission.codelet,
                        {submission.accesses.begin(), submission.accesses.end()},
                        submission.priority,
                        submission.flops});
    }
    perform(section);
    too_many = full();
    cancels = m_cancels;
    return task;
  };
  auto id = apply(submit_now);
  while (!id.valid()) {
    wait_for_bytes(submission);
    id = apply(submit_now);
  }
  if (m_pending.load() != 0) try_drain();
  if (too_many && EngineScope::current() == nullptr) wait_for_fewer_tasks(cancels);
  return id;
}

void Engine::drain(Section& section) {
  if (m_broken) {
    m_pending.store(0);
    return;
  }
  try {
    while (m_pending.load(std::memory_order_relaxed) != 0) {
      m_pending.exchange(0);
      for (auto& lane : m_lanes) {
        while (auto* end = lane->finished.front()) {
          --lane->outstanding;
          answer(*end);
          if (end->error) section.dropped_errors.push_back(std::exchange(end->error, nullptr));
          lane->finished.pop();
        }
        perform(section);
      }
      m_events.take(m_taken);
      for (auto& event : m_taken) {
        if (auto const error = error_of(event)) section.dropped_errors.push_back(error);
        handle(event);
        perform(section);
      }
      m_taken.clear();
    }
  } catch (...) {
    m_broken = std::current_exception();
  }
}

void Engine::answer(TaskEnd const& end) {
  m_planner.set_now(since_start(Clock::now()));
  if (m_recorder && !end.skipped)
    m_recorder->task_ended(end.task, since_start(end.begin), since_start(end.end), end.error != nullptr, end.blocked);
  if (end.skipped) {
    m_planner.task_skipped(end.task);
    if (m_options.record_journal) record(TaskSkipped{end.task});
  } else if (end.error) {
    m_planner.task_failed(end.task, end.error);
    if (m_options.record_journal) record(TaskFailed{end.task, end.error});
  } else {
    m_planner.task_done(end.task, end.duration);
    if (m_options.record_journal) record(TaskDone{end.task, end.duration});
  }
}

void Engine::handle(Event& event) {
  if (std::holds_alternative<CopyDone>(event) || std::holds_alternative<CopyFailed>(event)) --m_copies;
  if (std::holds_alternative<CancelAll>(event)) ++m_cancels;
  m_planner.set_now(since_start(Clock::now()));
  if (m_recorder) record_copy(event);
  m_planner.handle(event);
  if (m_options.record_journal) record(std::move(event));
}

void Engine::record_copy(Event const& event) {
  auto const now = m_planner.view().now();
  if (auto const* done = std::get_if<CopyDone>(&event)) m_recorder->copy_ended(done->transfer, now, false);
  if (auto const* failed = std::get_if<CopyFailed>(&event)) m_recorder->copy_ended(failed->transfer, now, true);
}

void Engine::perform(Section& section) {
  auto& commands = m_planner.commands();
  if (commands.empty()) return;
  for (auto const& command : commands) {
    if (m_recorder) m_recorder->performed(command, m_planner.view().now());
    if (auto const* run = std::get_if<RunCommand>(&command)) {
      hand_over(*run);
    } else if (auto const* retired = std::get_if<RetireCommand>(&command)) {
      auto& parameters = m_parameters[retired->task];
      // The worker has destroyed the parameters of a task that ran.
      if (parameters.get() != nullptr) m_dropped.parameters.push_back(std::move(parameters));
      m_parameters.erase(retired->task);
    } else if (auto const* copy = std::get_if<CopyCommand>(&command)) {
      queue_copy(*copy, section);
    } else if (auto const* forgotten = std::get_if<ForgetCommand>(&command)) {
      m_addresses.forget(forgotten->data, m_dropped.bindings);
      m_bytes_freed = m_bytes_freed || !m_bytes.overlapping(forgotten->data).empty();
      m_bytes.forget(forgotten->data);
      for (auto const& backend : m_backends.copies) backend->forget(forgotten->data);
    }
  }
  commands.clear();
  if (m_recorder) m_recorder->settled(m_planner.view().now());
  m_recorded = 0;
  wake_lanes(section);
}

void Engine::hand_over(RunCommand const& run) {
  auto const& task = m_planner.task(run.task);
  auto const& codelet = m_planner.codelet(task.codelet);
  auto const& worker = m_planner.topology().machine()[run.worker];
  auto& lane = *m_lanes[run.worker.index()];
  auto& entry = lane.incoming.next();
  entry.task = run.task;
  entry.name = codelet.name.c_str();
  entry.follows = run.follows;
  entry.kernel = codelet.kernels[static_cast<std::size_t>(worker.kind)];
  entry.launches_kokkos_kernels = codelet.launches_kokkos_kernels;
  entry.expand = codelet.expand;
  entry.check = codelet.check;
  entry.accesses = &task.accesses;
  entry.parameters = &m_parameters[run.task];
  auto const addresses = entry.addresses(task.accesses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    auto const data = task.accesses[i].data;
    auto const place = m_planner.place(data, worker.node);
    addresses[i] = m_addresses.find(data, place);
    if (place.slot == Slot::Pool || !m_addresses.has_lines()) continue;
    if (auto const lines = m_addresses.lines(data); lines.count > 0) entry.set_pitch(i, lines.pitch);
  }
  lane.incoming.stage();
  ++lane.outstanding;
  if (!std::exchange(lane.touched, true)) m_touched.push_back(&lane);
}

void Engine::queue_copy(CopyCommand const& copy, Section& section) {
  CopyRequest const request{copy.data,
                            copy.from,
                            copy.to,
                            m_addresses.find(copy.data, copy.from),
                            m_addresses.find(copy.data, copy.to),
                            copy.bytes,
                            m_addresses.lines(copy.data)};
  section.copies.push_back({m_backends.copies[copy.link.index()].get(), copy.transfer, request});
  m_under_way.fetch_add(1);
  ++m_copies;
}

void Engine::wake_lanes(Section& section) {
  for (auto* lane : m_touched) {
    lane->touched = false;
    if (m_expands && lane->inner != nullptr) count_tasks_of(*lane->inner);
    lane->incoming.publish();
    auto& sleeping = lane->bell.sleeping;
    if (sleeping.load() != 0 && sleeping.exchange(0) != 0) section.to_wake.push_back(&lane->bell);
  }
  m_touched.clear();
}

void Engine::account_waiting(Clock::time_point now) {
  auto const& topology = m_planner.topology();
  std::uint32_t idle = 0;
  for (std::uint32_t g = 0; g < topology.groups().size() && m_copies > 0; ++g) {
    std::size_t held = 0;
    std::uint32_t without = 0;
    for (auto const worker : topology.groups()[g].workers) {
      auto const outstanding = m_lanes[worker.index()]->outstanding;
      held += outstanding;
      if (outstanding == 0) ++without;
    }
    if (m_planner.view().committed(GroupId(g)).size() > held) idle += without;
  }
  if (m_idle_for_data > 0) m_waited += (now - m_accounted) * m_idle_for_data;
  m_idle_for_data = idle;
  m_accounted = now;
}

}  // namespace granary
