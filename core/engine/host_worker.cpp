// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/host_worker.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>

#include <utility>

namespace granary::detail {

namespace {

// A worker with a full lane announces its results in batches: each announcement costs the planner's thread a cache
// miss.
constexpr std::uint32_t batch = 16;
constexpr std::chrono::microseconds long_kernel(5);

}  // namespace

void HostWorker::run() {
  try {
    m_instance = m_backend.enter(m_lane.id);
  } catch (...) {
    m_unusable = std::current_exception();
  }
  m_now = Clock::now();
  for (;;) {
    detail::Working::stop_if_exiting();
    if (auto* entry = m_lane.start_next()) {
      run_task(*entry);
      continue;
    }
    announce_results(helps() && m_lane.inner->has_ready());
    if (!helps() || !help(nullptr)) {
      if (!find_work()) break;
    }
    m_now = Clock::now();
  }
  if (!m_unusable) m_backend.leave(m_lane.id);
}

// A worker that waits for work next leaves its results to callers while they come and go.
void HostWorker::announce_results(bool at_once) {
  if (m_unannounced == 0) return;
  m_mailbox.announce(std::exchange(m_unannounced, 0));
  bool const callers_come = m_mailbox.called_since(m_calls);
  if (at_once || !callers_come) m_mailbox.drain();
}

void HostWorker::run_task(LaneEntry& entry) {
  if (m_unannounced > 0 && m_mailbox.someone_waits()) announce_results();
  auto& end = m_lane.finished.next();
  end.task = entry.task;
  end.stopped = false;
  entry.codelet->restartable ? run_stoppable(entry, end) : run_kernel(entry, end);
  if (!end.stopped) entry.parameters->reset();  // else it runs again
  bool const was_long = end.duration > long_kernel;
  m_lane.pass_on();
  if (++m_unannounced < batch && !was_long) return;
  announce_results();
  m_now = Clock::now();
}

// Only a body that was told to stop is stopped, whatever it did then; if none was told, its result counts. So nobody
// has to guess whether a body ended early.
void HostWorker::run_stoppable(LaneEntry& entry, TaskEnd& end) {
  auto& stop = m_lane.stop;
  stop.seen.store(false, std::memory_order_relaxed);
  if (stop.task.load(std::memory_order_relaxed) == entry.task.value()) {
    stop.task.store(TaskId().value(), std::memory_order_relaxed);
    end.stopped = true;
    end.changed = false;
    end.error = nullptr;
    end.duration = end.blocked = Duration{0};
    end.begin = end.end = m_now;
    return;
  }
  for (auto const& kept : entry.kept) kept.keep();
  if (!entry.kept.empty()) m_now = Clock::now();
  run_kernel(entry, end);
  if (!stop.seen.load(std::memory_order_relaxed)) return;
  // The planner names this worker again only after the reply; the task may run here again.
  stop.task.store(TaskId().value(), std::memory_order_relaxed);
  for (auto const& kept : entry.kept) kept.put_back();
  if (!entry.kept.empty()) m_now = Clock::now();
  end.stopped = end.changed = true;
  end.error = nullptr;
}

// The duration of an inner graph is the sum of its kernels on all workers: the cost of its work, as an estimator needs
// it.
void HostWorker::run_kernel(LaneEntry& entry, TaskEnd& end) {
  end.begin = m_now;
  end.blocked = Duration{0};
  end.made.clear();
  end.error = m_unusable;
  if (!end.error) {
    try {
      if (run_as_graph(entry, end)) {
        end.end = m_now = Clock::now();
        return;
      }
      end.blocked =
          m_backend.run(entry.kernel, entry.codelet->launches_kokkos_kernels,
                        {.data = entry.addresses(),
                         .pitches = entry.pitches(),
                         .bytes = entry.varying.bytes,
                         .results = entry.varying.results,
                         .result_bytes = entry.varying.result_bytes.data(),
                         .parameters = entry.parameters->get(),
                         .instance = m_instance,
                         .worker = m_lane.id,
                         .name = entry.codelet->name.c_str(),
                         .stop = entry.codelet->restartable ? StopToken(m_lane.stop, entry.task) : StopToken()});
    } catch (...) {
      end.error = std::current_exception();
    }
  }
  end.end = m_now = Clock::now();
  end.count_made(entry, entry.varying.result_bytes);
  end.begin += end.blocked;
  end.duration = std::chrono::duration_cast<Duration>(m_now - end.begin);
  m_lane.count_busy(end.duration, end.blocked);
}

// Waits until the lane has a task, or inner tasks of other workers to help with; false when the engine stops.
bool HostWorker::find_work() {
  auto const met = [&] {
    return m_lane.incoming.front() != nullptr || (helps() && m_lane.inner->has_ready()) || m_stopping.load();
  };
  m_mailbox.wait(m_lane.bell, met, m_recall);
  return m_lane.incoming.front() != nullptr || !m_stopping.load();
}

bool HostWorker::run_as_graph(LaneEntry& entry, TaskEnd& end) {
  auto const expand = entry.codelet->expand;
  if (!entry.varying.bytes.empty()) return false;  // parts of varying data are none
  if (expand == nullptr || m_lane.inner == nullptr || !m_lane.inner->scarce()) return false;
  InnerRun run(*entry.accesses, entry.addresses(), entry.pitches(), m_lane);
  expand(entry.parameters->get(), run.graph);
  if (run.graph.submitted() == 0) return false;
  announce_results();
  m_lane.inner->publish(run);
  while (!run.finished.load()) {
    if (help(&run)) continue;
    m_mailbox.wait(m_lane.bell, [&] { return run.finished.load() || m_lane.inner->has_ready(); });
  }
  m_lane.inner->withdraw(run);
  WorkerLane::add(m_lane.expanded, 1);
  end.duration = run.busy;
  end.error = run.graph.error();
  return true;
}

// Runs one inner task, of the preferred graph if it has one ready; false when there is none.
bool HostWorker::help(InnerRun* preferred) {
  auto const taken = m_lane.inner->take(preferred);
  if (taken.run == nullptr) return false;
  auto const& graph = taken.run->graph;
  auto const& codelet = graph.codelet(*taken.task);
  auto const start = Clock::now();
  std::exception_ptr error;
  Duration blocked{0};
  try {
    auto const kernel = codelet.kernels[static_cast<std::size_t>(WorkerKind::Cpu)];
    if (kernel == nullptr) throw InvalidArgument("inner task " + codelet.name + " has no kernel for CPU workers");
    m_inner_addresses.clear();
    for (auto const& access : taken.task->accesses) m_inner_addresses.push_back(graph.address(access.data));
    blocked = m_backend.run(kernel, codelet.launches_kokkos_kernels,
                            {.data = m_inner_addresses,
                             .parameters = graph.parameters(taken.task->id).get(),
                             .instance = m_instance,
                             .worker = m_lane.id,
                             .name = codelet.name.c_str()});
  } catch (...) {
    error = std::current_exception();
  }
  auto const duration = std::chrono::duration_cast<Duration>(Clock::now() - start) - blocked;
  m_lane.count_busy(duration, blocked);
  WorkerLane::add(m_lane.inner_tasks, 1);
  m_lane.inner->ended(taken, duration, std::move(error), m_lane);
  return true;
}

}  // namespace granary::detail
