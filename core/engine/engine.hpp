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

/// What performs the planner's commands on a machine.
struct EngineBackends {
  std::shared_ptr<WorkerBackend> workers;            ///< null where the machine has no CPU workers
  std::vector<std::shared_ptr<CopyBackend>> copies;  ///< by link
  std::shared_ptr<LaunchBackend> devices = {};       ///< null where it has no device workers
  /// By node; where it is null or absent, nodes of the host get a Pool.
  std::vector<std::shared_ptr<NodeMemory>> memories = {};
};

/// A datum that may have been registered before, and what is kept for it until it is forgotten.
struct SharedData {
  DataId data;
  std::shared_ptr<void const> keep;
};

struct EngineOptions {
  PlannerOptions planner;
  /// `submit` sleeps while so many submitted tasks have not ended; 0: never.
  std::uint64_t max_live_tasks = 100'000;
  /// How long a thread without work spins before it sleeps.
  Duration spin = std::chrono::microseconds(20);
  bool record_journal = false;
  TraceOptions trace = {};
};

/// The real-time driver: performs the planner's commands on threads, and tells it what came of them.
///
/// No thread is the planner's own: events are posted, and whichever thread takes the planner's lock applies all of
/// them. Copies are started, threads woken and parameters destroyed after the lock was released. All member functions
/// may be called from any thread.
class Engine final : public Submitter {
 public:
  /// Takes the nodes' memories and starts the workers' threads: one for each CPU worker, one that drives all device
  /// workers. Throws InvalidArgument when a node that is not a disk has no stated capacity, or when nothing was given
  /// that performs a link's copies, runs some workers' kernels or is a device's memory; and what Planner throws.
  Engine(Topology topology, PolicySet policies, std::unique_ptr<Estimator> estimator, EngineBackends backends,
         EngineOptions options = {});
  /// Cancels what was not handed to a worker, waits for what is under way, and reports nothing. Ends the program where
  /// `works_here`: there it would wait for itself.
  ~Engine() override;
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  /// A codelet that is the same in everything as one that was added before is that one: none is kept twice.
  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override {
    return add_data(std::move(description), HostBinding{}, nullptr);
  }
  /// `binding` gives the addresses of origin and home where they have some. `bind`, if any, is called with the id
  /// before any copy of the datum can start; it runs under the engine's lock: must be quick, and must not call the
  /// engine.
  DataId add_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind);
  /// A datum that is the bytes `bytes` of the application's memory, with its origin and home there. Where they are a
  /// datum already, in the same form, it is that one: each registration is released once, and until the datum is
  /// forgotten it may be registered again after the last release. See `submit` for data that share some of their bytes.
  SharedData add_host_data(DataDescription description, HostBinding binding, ByteSet bytes);
  void release_data(DataId data) override;
  /// About 1 µs, and no allocation of its own for tasks of up to four accesses and parameters of up to 56 bytes.
  ///
  /// When EngineOptions::max_live_tasks have not ended, this one included, the call sleeps until a sixteenth of them is
  /// left or the run is cancelled. It never sleeps on a thread that works for an engine, as in a task that submits
  /// (EngineScope). Whoever submits must not keep tasks from ending: by a lock that a task's body takes, or by a signal
  /// to it that comes later.
  ///
  /// Data of the application's memory that share bytes, and are not one datum, cannot both be used where one of them is
  /// written: when every registration of the other one was released, this waits until that one is forgotten; otherwise
  /// it throws InvalidArgument with both names. It also throws where it would wait on a worker's thread.
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override;

  /// Returns when every submitted task has ended and every home holds its last value. If anything failed, rethrows the
  /// exception of the first failure in the order of submission, as it was thrown; all of them are then in `failures()`,
  /// and the next `wait` is clean. Throws InvalidArgument where `works_here`, and then has done nothing.
  void wait();
  /// Whether the calling thread works for this engine: runs one of its tasks, launches its kernels, or tells that a
  /// copy ended. What waits for tasks would wait for itself there.
  [[nodiscard]] bool works_here() const { return EngineScope::within(this); }
  /// Throws InvalidArgument, one sentence about `what` ("wait()"), where `works_here`.
  void refuse_in_task(std::string_view what) const;
  /// What the last `wait` that threw reported, first submitted first. Call it from the thread that waited.
  [[nodiscard]] std::vector<Failure> const& failures() const { return m_reported; }
  /// Cancels every task that was not handed to a worker; `wait` rethrows `error`. Tasks that are running end normally.
  void cancel(std::exception_ptr error);

  [[nodiscard]] EngineStatistics statistics();
  /// What runs, what waits for what, and what is in use of every memory: see Planner::describe_waiting.
  [[nodiscard]] std::string describe();
  [[nodiscard]] Topology const& topology() const { return m_planner.topology(); }
  /// What `kernel_time` believes now. Do not call it while tasks run.
  [[nodiscard]] Estimator const& estimator() const { return *m_estimator; }
  /// Call it when nothing runs; empty unless EngineOptions::record_journal.
  [[nodiscard]] Journal const& journal() const { return m_journal; }
  /// What happened so far, but for what has not ended; empty unless EngineOptions::trace records. Begins and ends of
  /// tasks are those of their kernels; a transfer begins when the planner asks for it and ends when the planner hears
  /// of it, some microseconds late. A task on a device ends when that is seen. O(events), and the tasks stand still
  /// meanwhile.
  [[nodiscard]] Trace trace();

 private:
  using Clock = std::chrono::steady_clock;
  struct CopyJob {
    CopyBackend* backend;
    TransferId transfer;
    CopyRequest request;
  };
  class Section;
  // Objects of users, until a thread of the application destroys them without the planner's lock: their destructors may
  // call the engine, and copies of Views among them have counts of references that are not atomic in a Kokkos without
  // threads.
  struct Dropped {
    std::vector<std::shared_ptr<void const>> bindings;  // of forgotten data
    std::vector<Parameters> parameters;                 // of cancelled tasks
    [[nodiscard]] bool empty() const { return bindings.empty() && parameters.empty(); }
  };
  // All that a codelet is.
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
  // Whether a submission that began to sleep after `cancels` calls of cancel goes on.
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
  // Sleeps until `met()`, which is called under the lock and may throw; `waiters` is counted up meanwhile, and `epoch`
  // changes when it may have come true.
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
  alignas(64) std::atomic<std::uint32_t> m_pending = 0;  // announced events that nobody has drained
  alignas(64) std::atomic<std::uint32_t> m_idle_epoch = 0;
  std::atomic<std::uint32_t> m_fewer_epoch = 0;
  std::atomic<std::uint32_t> m_under_way = 0;  // copies whose completion may still touch the engine
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
  std::vector<std::unique_ptr<InnerPool>> m_inner;  // by group; null where tasks run as they are
  bool m_expands = false;                           // some codelet has an expansion
  std::vector<WorkerLane*> m_touched;
  std::vector<Event> m_taken;
  std::exception_ptr m_broken;       // a bug in granary or no memory left: nothing is decided any more
  std::uint32_t m_waiters = 0;       // threads that sleep until nothing is left to do
  std::uint32_t m_submitters = 0;    // threads that sleep until fewer tasks live
  std::uint64_t m_cancels = 0;       // calls of `cancel` that were served
  std::uint64_t m_cancels_told = 0;  // of these, the ones that sleeping submissions were woken for
  Dropped m_dropped;
  bool m_bytes_freed = false;  // a datum that shared bytes with another one was forgotten
  bool m_prioritised = false;  // some task had a priority
  NodeId m_unfit_device;       // the one with the largest memory, until a task fits it
  Bytes m_device_need = 0;     // of the largest task meanwhile
  std::uint32_t m_sections = 0;
  std::size_t m_copies = 0;           // under way, as the planner knows
  std::uint32_t m_idle_for_data = 0;  // workers, since m_accounted
  Clock::time_point m_accounted;
  Duration m_waited{0};
  Duration m_decided{0};
  std::unique_ptr<TraceRecorder> m_recorder;  // null: nothing is recorded
  Journal m_journal;
  std::size_t m_recorded = 0;  // of the planner's present commands, those in the journal

  std::vector<Failure> m_reported;
};

}  // namespace granary

#pragma GCC visibility pop
