// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/event.hpp>
#include <granary/detail/core/planner/failure.hpp>
#include <granary/detail/core/planner/observer.hpp>
#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/core/planner/statistics.hpp>
#include <granary/detail/core/policy/policy_set.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace granary::detail {

struct PlannerImplementation;
class PlannerInspection;

/// The present uses of a datum and of the data that share bytes with it.
struct GRANARY_EXPORT DataUse {
  std::uint32_t tasks = 0;  ///< submitted ones that access it
  bool moves = false;       ///< transfers are requested or in flight, or it is on its way home
};

/// The state machine that makes all decisions: events in, commands out. Passive: no thread, lock, clock or device
/// inside; not thread-safe. The same events yield the same commands.
///
/// Committed tasks get memory on a node in the order of commitment, all data of a task at once. A task that needs no
/// additional memory may pass waiting ones. docs/design.md states the guarantees and the reasons.
class GRANARY_EXPORT Planner final {
 public:
  /// Throws InvalidArgument when the machine has no workers, the policies are incomplete or an option is out of range.
  /// `booking` concerns `submitter_sleeps` alone, no command.
  Planner(Topology topology, PolicySet policies, Estimator& estimator, PlannerOptions options = {},
          BookingOptions booking = {});
  ~Planner();
  Planner(Planner const&) = delete;
  Planner& operator=(Planner const&) = delete;

  /// The observer is told all that follows; it must live as long as the planner handles events.
  void attach(PlannerObserver& observer);
  /// The parameters of a live task for Codelet::result_bytes, null without any. Called within calls of the planner.
  void look_up_parameters(std::function<void const*(TaskId)> look_up);
  /// Sets the time of the following events; must not decrease.
  void set_now(Instant now);

  // The events. Those with a result return the new id; TakeFailures returns the failures. CopyDone to TaskReturned,
  // WorkerBack, Asked and Shipped report to the planner what became of its commands, and must match these. The others,
  // most of them from the application, throw as Submitter documents, InvalidArgument for data that are not registered,
  // and what their own comments say; the planner is then as before.
  CodeletId handle(AddCodelet const& event);
  DataId handle(AddData const& event);
  TaskId handle(TaskSubmission const& event);
  void handle(RetainData event);
  void handle(ReleaseData event);
  void handle(CopyDone event);
  void handle(CopyFailed const& event);
  void handle(Sized event);
  void handle(TaskDone const& event);
  void handle(TaskFailed const& event);
  void handle(TaskSkipped event);
  void handle(TaskReturned event);
  void handle(WorkerBack event);
  void handle(Asked event);
  void handle(Shipped event);
  void handle(FlushHomes event);
  void handle(CancelAll const& event);
  /// In order of submission.
  std::vector<Failure> handle(TakeFailures event);
  void handle(HomesMayChange event);
  void handle(PlaceChanged event);
  void handle(KeepNoOldValue event);
  void handle(Prefetch event);
  void handle(WillNotUse event);
  NewIds handle(Event const& event);
  /// Throws what the submission of this task would throw.
  void check(TaskSubmission const& submission) const;
  /// The commands that were not taken yet.
  [[nodiscard]] std::vector<Command> const& commands() const;
  /// Replaces the contents of `taken` by these commands, which the driver performs now.
  void take_commands(std::vector<Command>& taken);

  // The state: for policies and observers, and for tests and messages. What follows these is for drivers.
  [[nodiscard]] SystemView const& view() const;
  [[nodiscard]] PlannerInspection inspect() const;

  [[nodiscard]] Topology const& topology() const;
  [[nodiscard]] Scheduler const& scheduler() const;
  [[nodiscard]] Statistics const& statistics() const;
  /// No live task, no requested or active transfer, and no home to be updated.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] std::size_t live_tasks() const;
  [[nodiscard]] bool live(TaskId task) const;
  /// True if a task may be returned after it has begun to write: it is restartable, and each value that it overwrites
  /// and needs is kept aside, or another memory holds it.
  [[nodiscard]] bool may_restart(TaskId task) const;
  /// True if it gave a task back unasked; then it gets tasks after the other workers of its group.
  [[nodiscard]] bool absent(WorkerId worker) const;
  /// The number of ready tasks that are committed to the group and not handed to a worker yet.
  [[nodiscard]] std::uint32_t ahead(GroupId group) const;
  /// True if the submitter should sleep until this is false: see BookingOptions. Never without own live tasks.
  [[nodiscard]] bool submitter_sleeps() const;
  [[nodiscard]] bool failed() const;
  /// Why a task that has ended failed or did not run: see Failures::of_task; null if it ran, or if that was reported.
  /// Valid until the next event.
  [[nodiscard]] Failure const* failure_of(TaskId task) const;
  [[nodiscard]] std::exception_ptr const& policy_fault() const;  ///< has ended the run: submissions throw it
  /// True if an exception, of an estimator or for lack of memory, has ended an event midway: no event may follow.
  [[nodiscard]] bool interrupted() const;
  /// No tasks and no moves if the datum is not registered.
  [[nodiscard]] DataUse use_of(DataId data) const;
  /// The data of these that are registered, and those that share bytes with them.
  [[nodiscard]] std::vector<DataId> with_bytes_of(std::span<DataId const> data) const;
  /// True if a task that is submitted now may read the datum.
  [[nodiscard]] bool defined(DataId data) const;
  /// True if a registration of the datum is not released.
  [[nodiscard]] bool held(DataId data) const;

 private:
  void advance();
  bool resolve_stall();
  bool resolve_stall_of_outgoing_values();
  template <class Kind>
  void tell(Kind const& event, NewIds ids = {});
  std::unique_ptr<PlannerImplementation> m_implementation;
};

}  // namespace granary::detail
