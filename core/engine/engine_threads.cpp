// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/engine/engine.hpp>

#include <granary/core/base/error.hpp>
#include <granary/core/base/start_thread.hpp>
#include <granary/core/engine/engine_section.hpp>

#include <utility>

namespace granary {

namespace {

// A worker with a full lane announces its results in batches: each announcement costs the planner's thread a cache
// miss.
constexpr std::uint32_t batch = 16;
constexpr std::chrono::microseconds long_kernel(5);

}  // namespace

void Engine::announce(std::uint32_t events) { m_pending.fetch_add(events); }

// A thread that fails to take the lock may leave: the holder checks for events again after it has released the lock.
void Engine::try_drain() {
  while (m_pending.load() != 0) {
    if (!m_lock.try_lock()) return;
    Section const section(*this, Section::AlreadyLocked{});
  }
}

void Engine::start_copies(Section& section) {
  for (auto& job : section.copies) {
    auto const transfer = job.transfer;
    try {
      job.backend->copy_async(job.request,
                              [this, transfer](std::exception_ptr error) { copy_ended(transfer, std::move(error)); });
    } catch (...) {
      copy_ended(transfer, std::current_exception());
    }
  }
}

void Engine::copy_ended(TransferId transfer, std::exception_ptr error) {
  EngineScope const scope(this);
  if (error) {
    cancel_if_lost(error);
    m_events.push(CopyFailed{transfer, std::move(error)});
  } else {
    m_events.push(CopyDone{transfer});
  }
  announce(1);
  try_drain();
  m_under_way.fetch_sub(1);  // last: the engine may be destroyed after this
}

void Engine::cancel(std::exception_ptr error) {
  m_events.push(CancelAll{std::move(error)});
  announce(1);
  try_drain();
}

void Engine::work(WorkerLane& lane) {
  EngineScope const scope(this);
  try {
    lane.instance = m_backends.workers->enter(lane.id);
  } catch (...) {
    lane.unusable = std::current_exception();
  }
  auto now = Clock::now();
  for (;;) {
    if (auto* entry = lane.incoming.front()) {
      run_task(lane, *entry, now);
      continue;
    }
    if (lane.unannounced > 0) {
      announce(static_cast<std::uint32_t>(std::exchange(lane.unannounced, 0)));
      try_drain();
    }
    if (lane.inner == nullptr || lane.unusable || !help(lane, nullptr)) {
      if (!find_work(lane)) break;
    }
    now = Clock::now();
  }
  if (!lane.unusable) m_backends.workers->leave(lane.id);
}

// `now` is the end of the task before, or the time at which the lane found work.
void Engine::run_task(WorkerLane& lane, LaneEntry& entry, Clock::time_point& now) {
  auto& end = lane.finished.next();
  end.task = entry.task;
  run_kernel(lane, entry, end, now);
  entry.parameters->reset();
  bool const was_long = end.duration > long_kernel;
  lane.incoming.pop();
  lane.finished.stage();
  lane.finished.publish();
  lane.tasks.store(lane.tasks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (++lane.unannounced >= batch || was_long) {
    announce(static_cast<std::uint32_t>(std::exchange(lane.unannounced, 0)));
    try_drain();
    now = Clock::now();
  }
}

// The duration of an inner graph is the sum of its kernels on all workers: the cost of its work, as an estimator needs
// it.
void Engine::run_kernel(WorkerLane& lane, LaneEntry& entry, TaskEnd& end, Clock::time_point& now) {
  end.begin = now;
  end.blocked = Duration{0};
  end.error = lane.unusable;
  if (!end.error) {
    try {
      if (run_as_graph(lane, entry, end)) {
        end.end = now = Clock::now();
        return;
      }
      end.blocked = m_backends.workers->run(entry.kernel, entry.launches_kokkos_kernels,
                                            {.data = entry.addresses(),
                                             .pitches = entry.pitches(),
                                             .parameters = entry.parameters->get(),
                                             .instance = lane.instance,
                                             .worker = lane.id,
                                             .name = entry.name});
    } catch (...) {
      end.error = std::current_exception();
    }
  }
  end.end = now = Clock::now();
  end.begin += end.blocked;
  end.duration = std::chrono::duration_cast<Duration>(now - end.begin);
  lane.count_busy(end.duration, end.blocked);
}

// Waits until the lane has a task, or inner tasks of other workers to help with; false when the engine stops.
bool Engine::find_work(WorkerLane& lane) {
  bool const helps = lane.inner != nullptr && !lane.unusable;
  wait_for(lane.bell,
           [&] { return lane.incoming.front() != nullptr || (helps && lane.inner->has_ready()) || m_stop.load(); });
  return lane.incoming.front() != nullptr || !m_stop.load();
}

template <class Condition>
void Engine::sleep_until(std::uint32_t& waiters, std::atomic<std::uint32_t>& epoch, Condition&& met) {
  bool counted = false;
  for (;;) {
    std::uint32_t seen = 0;
    {
      Section const section(*this);
      if (std::exchange(counted, true)) --waiters;
      if (met()) return;
      ++waiters;
      seen = epoch.load();
    }
    try_drain();
    auto const give_up = Clock::now() + m_options.spin;
    while (epoch.load() == seen && Clock::now() < give_up) spin_pause();
    epoch.wait(seen);
  }
}

void Engine::wait_until_idle() {
  sleep_until(m_waiters, m_idle_epoch, [this] { return m_pending.load() == 0 && (m_broken || m_planner.idle()); });
}

// The planner never depends on later actions of its user, so the live tasks end by themselves.
void Engine::wait_for_fewer_tasks(std::uint64_t cancels) {
  sleep_until(m_submitters, m_fewer_epoch, [this, cancels] { return goes_on(cancels); });
}

void Engine::wait_for_bytes(TaskSubmission const& submission) {
  sleep_until(m_waiters, m_idle_epoch, [&] { return m_broken || !bytes_in_use(submission); });
}

void Engine::wait() {
  refuse_in_task("wait()");
  wait_until_idle();
  apply([&](Section& section) {
    m_planner.flush_homes();
    record(FlushHomes{});
    perform(section);
  });
  wait_until_idle();
  auto failures = apply([&](Section& section) {
    if (!m_planner.failed()) return std::vector<Failure>{};
    auto taken = m_planner.take_failures();
    record(ClearFailures{});
    perform(section);
    return taken;
  });
  if (failures.empty()) return;
  m_reported = std::move(failures);
  std::rethrow_exception(m_reported.front().error);
}

void Engine::start_threads() {
  auto const& workers = m_planner.topology().machine().workers;
  try {
    for (auto& thread : m_threads) {
      auto& first = *thread->lanes.front();
      if (workers[first.id.index()].kind == WorkerKind::Cpu) {
        thread->thread =
            start_thread("worker '" + workers[first.id.index()].name + "'", [this, &first] { work(first); });
      } else {
        thread->thread = start_thread("the devices", [this, &driver = *thread] { drive(driver); });
      }
    }
  } catch (...) {
    stop_threads();
    throw;
  }
}

void Engine::stop_threads() {
  m_stop.store(true);
  for (auto& thread : m_threads) {
    thread->bell.sleeping.store(0);
    thread->bell.sleeping.notify_one();
  }
  for (auto& thread : m_threads) {
    if (thread->thread.joinable()) thread->thread.join();
  }
}

}  // namespace granary
