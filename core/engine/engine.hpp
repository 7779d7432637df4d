// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/accounts.hpp>
#include <granary/detail/core/engine/addresses.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/engine/background_thread.hpp>
#include <granary/detail/core/engine/copy_commands.hpp>
#include <granary/detail/core/engine/engine_data.hpp>
#include <granary/detail/core/engine/engine_scope.hpp>
#include <granary/detail/core/engine/lanes.hpp>
#include <granary/detail/core/engine/mailbox.hpp>
#include <granary/detail/core/engine/outside_work.hpp>
#include <granary/detail/core/engine/planner_lock.hpp>
#include <granary/detail/core/engine/sleepers.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/planner/driver_rules.hpp>
#include <granary/detail/core/planner/journal.hpp>
#include <granary/detail/core/planner/outside.hpp>
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/core/planner/trace_recorder.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary::detail {

/// The backends that perform the planner's commands on a machine.
struct GRANARY_EXPORT EngineBackends {
  std::shared_ptr<WorkerBackend> workers;            ///< null where the machine has no CPU workers
  std::vector<std::shared_ptr<CopyBackend>> copies;  ///< by link
  std::shared_ptr<LaunchBackend> devices = {};       ///< null where it has no device workers
  /// By node; nodes of the host get a Pool if the entry is null or absent.
  std::vector<std::shared_ptr<NodeMemory>> memories = {};
};

struct GRANARY_EXPORT EngineOptions {
  PlannerOptions planner;
  /// When `submit` sleeps.
  BookingOptions booking{.max_live_tasks = 100'000};
  /// How long an idle thread spins before it sleeps.
  Duration spin = std::chrono::microseconds(20);
  /// Keeps `Engine::journal`. A scheduler's long computations are then made in the calls of the planner and not beside
  /// them, so that the events of the journal lead to the same commands again.
  bool record_journal = false;
  TraceOptions trace = {};
  /// Told all events, commands and notices; they must outlive the engine.
  std::vector<PlannerObserver*> observers = {};
  /// The other processes, where the machine has a node for them; called under the engine's lock. Must outlive it.
  OutsideCommands* outside = nullptr;
};

/// The real-time driver: performs the planner's commands on threads and reports the results to it.
///
/// The planner has no thread: events are posted, and the thread that takes the planner's lock applies all of them.
/// Copies are started, threads woken and parameters destroyed after the lock was released. All member functions may be
/// called from any thread.
class GRANARY_EXPORT Engine final : public Submitter {
 public:
  /// Allocates the nodes' memories and starts the workers' threads: one per CPU worker, and one that drives all device
  /// workers. Throws InvalidArgument when a host or device node has no stated capacity, or when a link, some workers or
  /// a device's memory have no backend; and what Planner throws.
  Engine(Topology topology, PolicySet policies, std::unique_ptr<Estimator> estimator, EngineBackends const& backends,
         EngineOptions const& options = {});
  /// Cancels the tasks that were not handed to a worker, waits for the others, and reports nothing. Terminates the
  /// program if `works_here`: it would wait for itself.
  ~Engine() override;
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  /// A codelet that equals an earlier one in every field gets its id and is not stored again. Tasks of an external one
  /// that is no stub have an OutsideWork::Ended as their parameters, which must become true without later calls of the
  /// submitting thread: that may sleep in `submit`.
  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override {
    return add_data(std::move(description), HostBinding{}, nullptr);
  }
  /// `binding` holds the addresses of origin and home, if any. `bind`, if any, is called with the id before any copy of
  /// the datum can start. It runs under the engine's lock: it must be quick, and must not call the engine.
  DataId add_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind);
  /// Registers the bytes `bytes` of the application's memory, which are the datum's origin and home. If they are a
  /// datum of the same form already, returns that one. Each registration is released once; until the datum is forgotten
  /// it may be registered again after the last release. Data that share some of their bytes may be used together.
  ///
  /// `mirror`: another place of the datum; null: none. Throws InvalidArgument if the bytes are a datum already that
  /// does not have it, or if another datum shares some of its bytes and one of them has a mirror.
  SharedData add_host_data(DataDescription description, HostBinding binding, ByteSet bytes,
                           MirrorBinding const* mirror = nullptr);
  /// The application has changed the datum, which no task uses, in its place on that node; see PlaceChanged.
  void place_changed(DataId data, NodeId node);
  /// Of a registered datum.
  [[nodiscard]] std::string name_of(DataId data);
  /// True if it has a mirror of the application's.
  [[nodiscard]] bool has_mirror(DataId data);
  /// True if its home is in the memory of the application, on the host or on a device.
  [[nodiscard]] bool home_in_memory(DataId data);
  /// These data, and those that share bytes with them.
  [[nodiscard]] std::vector<DataId> with_bytes_of(std::span<DataId const> data);
  /// True if a task that is submitted now may read the datum.
  [[nodiscard]] bool has_value(DataId data);
  /// The first of these data for which that is not so, or an invalid id.
  [[nodiscard]] DataId first_without_value(std::span<DataId const> data);
  /// True if the datum's place there, or its replica, holds its value.
  [[nodiscard]] bool valid_on(DataId data, NodeId node);
  /// See KeepNoOldValue.
  void keep_no_old_value(DataId data);
  /// Hints: see Prefetch and WillNotUse.
  void prefetch(DataId data, NodeId node);
  void will_not_use(DataId data);
  /// Registers the datum once more, for one more release.
  void retain_data(DataId data);
  void release_data(DataId data) override;
  /// About 1 µs, and no allocation of its own for tasks of up to four accesses and parameters of up to 80 bytes.
  ///
  /// When too much memory is booked, or too many tasks have not ended, this one included, the call sleeps as
  /// EngineOptions::booking says, or until the run is cancelled. It never sleeps on a thread that works for an engine,
  /// such as in a task that submits (EngineScope). The caller must not keep tasks from ending: it must not hold a lock
  /// that a task's body takes, or signal a task only after this call.
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override;
  /// As `submit`, but never sleeps. Call `throttle` later, which sleeps if `submit` would have to.
  TaskId submit_at_once(TaskSubmission const& submission, Parameters parameters);
  /// As `submit`, unless `counter` is not `expected` when the task takes its place in the order of submission. Then
  /// nothing happens, and the parameters stay.
  std::optional<TaskId> submit_while(std::atomic<std::uint64_t> const& counter, std::uint64_t expected,
                                     TaskSubmission const& submission, Parameters& parameters);
  /// Throws what the submission of this task would throw.
  void check(TaskSubmission const& submission);
  void throttle();

  /// Returns when every submitted task has ended and every home holds its final value. If anything failed, rethrows the
  /// exception of the first failure in the order of submission; all of them are then in `failures()`, and the next
  /// `wait` is clean. Throws InvalidArgument if `works_here`, without any effect.
  void wait();
  /// Returns when no submitted task uses these data and their homes hold their values, without waiting for others. If a
  /// failure left one of them without its value, or away from home, rethrows the exception of the first such failure in
  /// the order of submission; `failures()` has all of these. The next `wait()` reports those again that concern other
  /// data, too, or ended the run. What shares bytes with these data is waited for and told like them. Throws
  /// InvalidArgument if `works_here`, and for data that are not registered.
  ///
  /// It waits for the data `also` in the same way, and leaves their failures to others.
  void wait(std::span<DataId const> data, std::span<DataId const> also = {});
  /// Returns when the task has ended; rethrows the exception because of which it failed or did not run, unless that was
  /// reported before. The next `wait()` reports it, too. Throws InvalidArgument if `works_here`.
  void wait(TaskId task);
  /// True if the task has ended, in whatever way.
  [[nodiscard]] bool ended(TaskId task);
  /// True if a submitted task that has not ended uses the datum.
  [[nodiscard]] bool in_use(DataId data);
  /// True if the calling thread works for this engine: runs one of its tasks, launches its kernels, or reports the end
  /// of a copy. Waiting for tasks there would be waiting for itself.
  [[nodiscard]] bool works_here() const { return EngineScope::within(this); }
  /// Throws InvalidArgument if `works_here`, and Error after exit(); `what` ("wait()") is the subject of the sentence.
  void refuse_in_task(std::string_view what) const;
  /// What the calling thread's last `wait()` or `wait(data)` that threw a failure reported, first submitted first;
  /// `wait(task)` changes nothing here. Valid until the next wait of this thread.
  [[nodiscard]] std::vector<Failure> const& failures() const;
  /// The calling thread found these without the planner: they are its `failures()` from now on.
  void set_failures(std::vector<Failure> found);
  /// Cancels every task that was not handed to a worker; `wait` rethrows `error`. Running tasks end normally.
  void cancel(std::exception_ptr error);

  [[nodiscard]] EngineStatistics statistics();
  /// The running tasks, what each task waits for, and the bytes in use of every memory: see PlannerInspection.
  [[nodiscard]] std::string describe();
  [[nodiscard]] Topology const& topology() const { return m_planner.topology(); }
  /// The current state of the estimator. Do not call it while tasks run.
  [[nodiscard]] Estimator const& estimator() const { return *m_estimator; }
  /// Call it when nothing runs; empty unless EngineOptions::record_journal is set.
  [[nodiscard]] Journal const& journal() const { return m_records.journal; }
  /// The record of what has ended so far; empty unless EngineOptions::trace asks for it. A task begins and ends with
  /// its kernel. A transfer begins when the planner requests it and ends when its backend reports so; a task on a
  /// device ends when the driver notices. O(events); no task is scheduled meanwhile.
  [[nodiscard]] Trace trace();
  /// Posts an event of another process. EngineOptions::outside calls this, also within its own calls. It takes effect
  /// with the next call of the engine, or `apply_posted`.
  void post(Event event) { m_mailbox.post(std::move(event)); }
  /// Applies posted events, or leaves them to the thread that has the planner's lock. The caller must not hold a lock
  /// that EngineOptions::outside takes.
  void apply_posted() { try_drain(); }
  /// The datum's bytes there. Only within calls of EngineOptions::outside.
  [[nodiscard]] PlacedBytes bytes_at(DataId data, Place const& place) const { return m_data.bytes_at(data, place); }

  /// Calls the function between two events, so that it may read what observers have recorded. No task is scheduled
  /// meanwhile.
  void between_events(std::function<void()> const& function);

 private:
  // Work for after the planner's lock is released: it is slow, or may run users' code, which may call the engine.
  struct Afterwards {
    std::vector<CopyCommands::Job> copies;
    std::vector<Bell*> to_wake;
    std::vector<std::exception_ptr> dropped_errors;
    DroppedObjects dropped_objects;  // only on threads of the application
    bool wake = false;
  };
  // Callers that sleep, and what they look at.
  struct Callers {
    std::uint64_t cancels = 0;  // calls of `cancel` that were served
    Duration slept{0};          // in submissions, by all threads
    Sleepers sleepers{};
  };
  // The observers of the planner.
  struct Records {
    Journal journal;
    std::unique_ptr<TraceRecorder> trace;  // null: nothing is recorded
  };
  // All fields of a codelet.
  using CodeletKey = std::tuple<std::string, std::string, std::array<Kernel, worker_kinds>, bool, Expansion, Check,
                                bool, bool, bool, ResultBytes>;

  template <class Function>
  auto hold_lock(Function&& function);
  template <class Function>
  auto apply(Function&& function);
  void try_drain();
  void recall_for(WorkerLane const& idle);
  void leave(Accounts::Hold hold) noexcept;
  void finish(Afterwards& after);
  void drain(Afterwards& after);
  void answer(TaskEnd& end, Afterwards& after);
  void answer(Event& event, Afterwards& after);
  [[nodiscard]] std::exception_ptr beyond_its_room(TaskId task, MadeBytes const& made) const;
  void perform(Afterwards& after);
  void copy_ended(TransferId transfer, std::exception_ptr error);
  void outside_ended(TaskId task, std::exception_ptr error);
  [[nodiscard]] OutsideCommands& others() const;
  DataId register_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind,
                       std::span<FixedPlace const> places = {}, std::span<SharedBytes const> shares = {});
  // A submitted task, and the number of cancellations so far if its submitter shall sleep.
  struct Accepted {
    TaskId task;
    std::optional<std::uint64_t> asleep_at;
  };
  Accepted accept(TaskSubmission const& submission, Parameters& parameters);
  [[nodiscard]] std::optional<std::uint64_t> asleep_at() const;
  void sleep_after_submission(std::uint64_t cancels);
  void sleep_until(std::function<bool()> const& met);
  void wait_until_idle();
  void report(std::vector<Failure> failures);
  void start_threads(EngineBackends const& backends);

  std::shared_ptr<LaunchBackend> m_devices;
  std::unique_ptr<Estimator> m_estimator;
  alignas(64) PlannerLock m_lock;
  Mailbox m_mailbox;

  BackgroundThread m_background;  // outlives the scheduler

  // Under the lock.
  Planner m_planner;
  Records m_records;
  std::vector<Command> m_commands;  // being performed
  std::map<CodeletKey, CodeletId> m_codelets;
  EngineData m_data;
  CopyCommands m_copies;
  Lanes m_lanes;
  Accounts m_accounts;
  Callers m_callers{};
  OutsideWork m_outside;
  OutsideCommands* m_others;    // null: there are no other processes
  std::exception_ptr m_broken;  // an estimator has thrown, a bug, or no memory: the planner is not called any more

  mutable std::mutex m_reported_lock;
  std::map<std::thread::id, std::vector<Failure>> m_reported;  // by the thread that waited
};

// What follows is for the sources of Engine alone.

// Calls the function under the planner's lock; afterwards what threads reported meanwhile is applied, and all commands
// are performed.
template <class Function>
auto Engine::hold_lock(Function&& function) {
  m_lock.lock();
  m_mailbox.count_call();
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

// As hold_lock, for events of callers. A refusal leaves the planner as it was; what ends an event midway ends the run.
template <class Function>
auto Engine::apply(Function&& function) {
  return hold_lock([&] {
    if (m_broken) std::rethrow_exception(m_broken);
    m_planner.set_now(m_accounts.now());
    try {
      return function();
    } catch (...) {
      if (m_planner.interrupted()) m_broken = std::current_exception();
      throw;
    }
  });
}

}  // namespace granary::detail
