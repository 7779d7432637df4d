// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/paged_array.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/engine/addresses.hpp>
#include <granary/core/engine/backend.hpp>
#include <granary/core/engine/data_bytes.hpp>
#include <granary/core/engine/engine_scope.hpp>
#include <granary/core/engine/event_queue.hpp>
#include <granary/core/engine/inner_pool.hpp>
#include <granary/core/engine/journal.hpp>
#include <granary/core/engine/planner_lock.hpp>
#include <granary/core/engine/statistics.hpp>
#include <granary/core/engine/worker_lane.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/core/planner/planner.hpp>
#include <granary/core/planner/trace_recorder.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The backends that perform the planner's commands on a machine.
struct EngineBackends {
  std::shared_ptr<WorkerBackend> workers;            ///< null where the machine has no CPU workers
  std::vector<std::shared_ptr<CopyBackend>> copies;  ///< by link
  std::shared_ptr<LaunchBackend> devices = {};       ///< null where it has no device workers
  /// By node; nodes of the host get a Pool if the entry is null or absent.
  std::vector<std::shared_ptr<NodeMemory>> memories = {};
};

/// A datum that may have been registered before, and the object that is kept for it until it is forgotten.
struct SharedData {
  DataId data;
  std::shared_ptr<void const> keep;
};

struct EngineOptions {
  PlannerOptions planner;
  /// `submit` sleeps while this many submitted tasks have not ended; 0: never.
  std::uint64_t max_live_tasks = 100'000;
  /// How long an idle thread spins before it sleeps.
  Duration spin = std::chrono::microseconds(20);
  bool record_journal = false;
  TraceOptions trace = {};
};

/// The real-time driver: performs the planner's commands on threads and reports the results to it.
///
/// The planner has no thread: events are posted, and the thread that takes the planner's lock applies all of them.
/// Copies are started, threads woken and parameters destroyed after the lock was released. All member functions may be
/// called from any thread.
class Engine final : public Submitter {
 public:
  /// Allocates the nodes' memories and starts the workers' threads: one per CPU worker, and one that drives all device
  /// workers. Throws InvalidArgument when a node that is not a disk has no stated capacity, or when a link, some
  /// workers or a device's memory have no backend; and what Planner throws.
  Engine(Topology topology, PolicySet policies, std::unique_ptr<Estimator> estimator, EngineBackends backends,
         EngineOptions options = {});
  /// Cancels the tasks that were not handed to a worker, waits for the others, and reports nothing. Terminates the
  /// program if `works_here`: it would wait for itself.
  ~Engine() override;
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  /// A codelet that equals an earlier one in every field gets its id and is not stored again.
  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override {
    return add_data(std::move(description), HostBinding{}, nullptr);
  }
  /// `binding` holds the addresses of origin and home, if any. `bind`, if any, is called with the id before any copy of
  /// the datum can start. It runs under the engine's lock: it must be quick, and must not call the engine.
  DataId add_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind);
  /// Registers the bytes `bytes` of the application's memory, which are the datum's origin and home. If they are a
  /// datum of the same form already, returns that one. Each registration is released once; until the datum is forgotten
  /// it may be registered again after the last release. See `submit` for data that share some of their bytes.
  SharedData add_host_data(DataDescription description, HostBinding binding, ByteSet bytes);
  void release_data(DataId data) override;
  /// About 1 µs, and no allocation of its own for tasks of up to four accesses and parameters of up to 56 bytes.
  ///
  /// When EngineOptions::max_live_tasks tasks have not ended, this one included, the call sleeps until a sixteenth of
  /// them is left or the run is cancelled. It never sleeps on a thread that works for an engine, such as in a task that
  /// submits (EngineScope). The caller must not keep tasks from ending: it must not hold a lock that a task's body
  /// takes, or signal a task only after this call.
  ///
  /// Two data of the application's memory that share bytes cannot be in use together if one of them is written. If
  /// every registration of the other datum was released, this waits until that datum is forgotten. Otherwise, and on a
  /// worker's thread, it throws InvalidArgument with both names.
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override;

  /// Returns when every submitted task has ended and every home holds its final value. If anything failed, rethrows the
  /// exception of the first failure in the order of submission; all of them are then in `failures()`, and the next
  /// `wait` is clean. Throws InvalidArgument if `works_here`, without any effect.
  void wait();
  /// Whether the calling thread works for this engine: runs one of its tasks, launches its kernels, or reports the end
  /// of a copy. Waiting for tasks there would be waiting for itself.
  [[nodiscard]] bool works_here() const { return EngineScope::within(this); }
  /// Throws InvalidArgument if `works_here`; `what` ("wait()") is the subject of its sentence.
  void refuse_in_task(std::string_view what) const;
  /// The failures that the last throwing `wait` reported, first submitted first. Call it from the thread that waited.
  [[nodiscard]] std::vector<Failure> const& failures() const { return m_reported; }
  /// Cancels every task that was not handed to a worker; `wait` rethrows `error`. Running tasks end normally.
  void cancel(std::exception_ptr error);

  [[nodiscard]] EngineStatistics statistics();
  /// The running tasks, what each task waits for, and the bytes in use of every memory: see Planner::describe_waiting.
  [[nodiscard]] std::string describe();
  [[nodiscard]] Topology const& topology() const { return m_planner.topology(); }
  /// The current state of the estimator. Do not call it while tasks run.
  [[nodiscard]] Estimator const& estimator() const { return *m_estimator; }
  /// Call it when nothing runs; empty unless EngineOptions::record_journal is set.
  [[nodiscard]] Journal const& journal() const { return m_journal; }
  /// The record of what has ended so far; empty unless EngineOptions::trace asks for it. Begins and ends of tasks are
  /// those of their kernels. A transfer begins when the planner requests it and ends when the planner is notified, some
  /// microseconds late; a task on a device ends when the driver notices. O(events); no task is scheduled meanwhile.
  [[nodiscard]] Trace trace();

 private:
  using Clock = std::chrono::steady_clock;
  struct CopyJob {
    CopyBackend* backend;
    TransferId transfer;
    CopyRequest request;
  };
  class Section;
  // Objects of users, kept until a thread of the application destroys them without the planner's lock: their
  // destructors may call the engine, and the reference counts of Views among them are not atomic in a Kokkos without
  // threads.
  struct Dropped {
    std::vector<std::shared_ptr<void const>> bindings;  // of forgotten data
    std::vector<Parameters> parameters;                 // of cancelled tasks
    [[nodiscard]] bool empty() const { return bindings.empty() && parameters.empty(); }
  };
  // All fields of a codelet.
  using CodeletKey = std::tuple<std::string, std::string, std::array<Kernel, worker_kinds>, bool, Expansion, Check>;

  // engine.cpp: under the lock
  template <class Function>
  auto apply(Function&& function);
  Dropped take_dropped();
  void record(Event event);
  void record_copy(Event const& event);
  void drain(Section& section);
  void answer(TaskEnd const& end);
  void handle(Event& event);
  void perform(Section& section);
  void hand_over(RunCommand const& run);
  void queue_copy(CopyCommand const& copy, Section& section);
  void wake_lanes(Section& section);
  void account_waiting(Clock::time_point now);
  void note_device_need(TaskSubmission const& submission);
  [[nodiscard]] bool bytes_in_use(TaskSubmission const& submission) const;
  DataId register_data(Section& section, DataDescription description, HostBinding binding,
                       std::function<void(DataId)> const& bind);
  void rethrow_if_broken() const;
  [[nodiscard]] bool full() const;
  // Whether a submission that began to sleep after `cancels` calls of cancel may continue.
  [[nodiscard]] bool goes_on(std::uint64_t cancels) const;

  // engine_threads.cpp
  void announce(std::uint32_t events);
  void try_drain();
  void start_copies(Section& section);
  void copy_ended(TransferId transfer, std::exception_ptr error);
  void cancel_if_lost(std::exception_ptr const& error);
  void work(WorkerLane& lane);
  void run_task(WorkerLane& lane, LaneEntry& entry, Clock::time_point& now);
  void run_kernel(WorkerLane& lane, LaneEntry& entry, TaskEnd& end, Clock::time_point& now);
  bool find_work(WorkerLane& lane);
  template <class Condition>
  void wait_for(Bell& bell, Condition&& met);
  // Sleeps until `met()`, which is called under the lock and may throw. `waiters` is incremented meanwhile; `epoch`
  // changes when the condition may have become true.
  template <class Condition>
  void sleep_until(std::uint32_t& waiters, std::atomic<std::uint32_t>& epoch, Condition&& met);
  void wait_until_idle();
  void wait_for_bytes(TaskSubmission const& submission);
  void wait_for_fewer_tasks(std::uint64_t cancels);
  void start_threads();
  void stop_threads();

  // engine_driver.cpp
  void drive(LaneThread& driver);
  bool launch_all(WorkerLane& lane);
  static bool failed_before(WorkerLane& lane);
  bool poll_all(WorkerLane& lane);
  void finish(WorkerLane& lane, LaunchEnd ended);

  // engine_inner.cpp
  void make_inner_pools();
  void count_tasks_of(InnerPool& pool);
  bool run_as_graph(WorkerLane& lane, LaneEntry& entry, TaskEnd& end);
  bool help(WorkerLane& lane, InnerRun* preferred);

  [[nodiscard]] Instant since_start(Clock::time_point when) const { return Instant(when - m_start); }

  EngineOptions const m_options;
  EngineBackends m_backends;
  std::unique_ptr<Estimator> m_estimator;
  Clock::time_point const m_start = Clock::now();

  mutable PlannerLock m_lock;
  alignas(64) std::atomic<std::uint32_t> m_pending = 0;  // announced events that are not drained yet
  alignas(64) std::atomic<std::uint32_t> m_idle_epoch = 0;
  std::atomic<std::uint32_t> m_fewer_epoch = 0;
  std::atomic<std::uint32_t> m_under_way = 0;  // copies whose completion may still use the engine
  std::atomic<bool> m_stop = false;
  EventQueue m_events;

  // Under the lock.
  Planner m_planner;
  std::vector<std::shared_ptr<NodeMemory>> m_memories;  // by node
  Addresses m_addresses;
  std::map<CodeletKey, CodeletId> m_codelets;
  DataBytes m_bytes;
  PagedArray<TaskId, Parameters> m_parameters;
  std::vector<std::unique_ptr<WorkerLane>> m_lanes;  // by worker
  std::vector<std::unique_ptr<LaneThread>> m_threads;
  std::vector<std::unique_ptr<InnerPool>> m_inner;  // by group; null if tasks are not expanded
  bool m_expands = false;                           // some codelet has an expansion
  std::vector<WorkerLane*> m_touched;
  std::vector<Event> m_taken;
  std::exception_ptr m_broken;       // a bug in granary or out of memory: the planner is not called any more
  std::uint32_t m_waiters = 0;       // threads that sleep until all work has ended
  std::uint32_t m_submitters = 0;    // threads that sleep until fewer tasks are live
  std::uint64_t m_cancels = 0;       // calls of `cancel` that were served
  std::uint64_t m_cancels_told = 0;  // of these, the ones for which sleeping submissions were woken
  Dropped m_dropped;
  bool m_bytes_freed = false;  // a datum that shared bytes with another one was forgotten
  bool m_prioritised = false;  // some task had a priority
  NodeId m_unfit_device;       // the one with the largest memory, until a task fits it
  Bytes m_device_need = 0;     // of the largest task meanwhile
  std::uint32_t m_sections = 0;
  std::size_t m_copies = 0;           // active copies, as the planner knows
  std::uint32_t m_idle_for_data = 0;  // workers, since m_accounted
  Clock::time_point m_accounted;
  Duration m_waited{0};
  Duration m_decided{0};
  std::unique_ptr<TraceRecorder> m_recorder;  // null: nothing is recorded
  Journal m_journal;
  std::size_t m_recorded = 0;  // the planner's current commands that are in the journal

  std::vector<Failure> m_reported;
};

}  // namespace granary

#pragma GCC visibility pop
