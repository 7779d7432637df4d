// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/model/estimator.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/core/planner/command.hpp>
#include <granary/core/planner/event.hpp>
#include <granary/core/planner/eviction_observer.hpp>
#include <granary/core/planner/failure.hpp>
#include <granary/core/planner/options.hpp>
#include <granary/core/planner/statistics.hpp>
#include <granary/core/policy/policy_set.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The state machine that makes all decisions: events in, commands out. Passive: no thread, lock, clock or device
/// inside; not thread-safe. Every event appends the resulting commands to `commands()`; the same events yield the same
/// commands.
///
/// Committed tasks get memory on a node in the order of commitment, all data of a task at once. A task that needs no
/// additional memory may pass waiting ones. docs/design.md states the guarantees and the reasons.
class Planner final {
 public:
  /// Throws InvalidArgument when the machine has no workers, the policies are incomplete or an option is out of range.
  Planner(Topology topology, PolicySet policies, Estimator& estimator, PlannerOptions options = {});
  ~Planner();
  Planner(Planner const&) = delete;
  Planner& operator=(Planner const&) = delete;

  /// Sets the time of the following events; must not decrease.
  void set_now(Instant now);
  /// Sets the observer of evictions; null: none.
  void observe_evictions(EvictionObserver* observer);

  // Events. The first five throw as Submitter documents, without any effect.
  CodeletId add_codelet(Codelet codelet);
  DataId add_data(DataDescription description);
  /// The datum needs one more release; also allowed after its last release, until it is forgotten.
  void retain_data(DataId data);
  void release_data(DataId data);
  TaskId submit(TaskSubmission const& submission);
  void copy_done(TransferId transfer);
  void copy_failed(TransferId transfer, std::exception_ptr error);
  void task_done(TaskId task, Duration measured);
  void task_failed(TaskId task, std::exception_ptr error);
  void task_skipped(TaskId task);
  /// Requests that the values that data have now are written to their homes, of all data or of one; `idle` is false
  /// until then. Throws InvalidArgument if that one is not registered.
  void flush_homes(DataId data = {});
  /// Cancels every task that was not handed to a worker, with `error` as the failure.
  void cancel_all(std::exception_ptr error);
  /// Returns and clears the failures since the last call, in order of submission. Poisoned data stay poisoned until a
  /// task that only writes them has run.
  std::vector<Failure> take_failures();
  /// Applies a recorded event.
  void handle(Event const& event);

  /// The commands that were not performed yet; the driver reads and clears them.
  [[nodiscard]] std::vector<Command>& commands();
  /// The location of the datum for workers on `node`; valid between a task's RunCommand and the reply.
  [[nodiscard]] Place place(DataId data, NodeId node) const;
  /// No live task, no requested or active transfer, and no home to be updated.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] std::size_t live_tasks() const;
  /// The number of ready tasks that are committed to the group and not handed to a worker yet.
  [[nodiscard]] std::uint32_t ahead(GroupId group) const;
  [[nodiscard]] bool failed() const;
  [[nodiscard]] bool poisoned(DataId data) const;
  /// Whether a registration of the datum is not released; whether a submitted task accesses or writes it.
  [[nodiscard]] bool held(DataId data) const;
  [[nodiscard]] bool accessed(DataId data) const;
  [[nodiscard]] bool written(DataId data) const;
  [[nodiscard]] DataDescription const& description(DataId data) const;
  [[nodiscard]] Codelet const& codelet(CodeletId codelet) const;
  [[nodiscard]] Statistics const& statistics() const;
  [[nodiscard]] PlanBoard const& board() const;
  [[nodiscard]] SystemView const& view() const;
  [[nodiscard]] Scheduler const& scheduler() const;
  [[nodiscard]] Topology const& topology() const;
  /// A live task.
  [[nodiscard]] Task const& task(TaskId task) const;
  /// Throws InternalError with the first broken invariant; O(everything). Tests call it after every event.
  void check_invariants() const;
  /// The running tasks, what each task waits for, and the bytes in use of every memory, as text; at most 20 lines of
  /// each kind. O(live tasks and their edges).
  [[nodiscard]] std::string describe_waiting() const;

 private:
  struct Parts;

  void advance();
  bool resolve_stall();

  std::unique_ptr<Parts> m_parts;
};

}  // namespace granary

#pragma GCC visibility pop
