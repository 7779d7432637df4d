// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/handovers.hpp>
#include <granary/detail/core/planner/dispatch/outgoing_values.hpp>
#include <granary/detail/core/planner/failure.hpp>

#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// Failures that were not reported yet; with them, tasks are cancelled, and data lose or keep their values.
class Failures {
 public:
  Failures(PlannerContext& context, SchedulerCalls& scheduler, Dispatch& dispatch, Handovers& handovers,
           OutgoingValues& outgoing_values, Movement& movement)
      : m_context(context),
        m_scheduler(scheduler),
        m_dispatch(dispatch),
        m_handovers(handovers),
        m_outgoing_values(outgoing_values),
        m_movement(movement) {}

  /// True if none is left to report.
  [[nodiscard]] bool empty() const { return m_reported == m_failures.size(); }
  /// True if a failure that is not reported cancelled all tasks that no worker had. O(failures).
  [[nodiscard]] bool run_ended() const { return of_the_run() != nullptr; }
  /// In the order of submission; they are reported with this.
  std::vector<Failure> take();
  /// The failures that concern a datum which no task uses: see TakeFailures.
  std::vector<Failure> take(DataId data);
  /// The failure because of which a task that has ended did not run, or failed; null: none since the last report. For
  /// tasks beyond `most_ended` of that kind it is the first failure of all. Valid until the next event.
  [[nodiscard]] Failure const* of_task(TaskId task) const;

  /// The task failed: if a worker had it, its outputs have no value any more, else they keep the one that they have.
  void task_failed(LiveTask& task, std::exception_ptr error);
  /// It ran on values that were none: what it wrote is lost with them.
  void task_ran_in_vain(LiveTask& task);
  /// It followed a failed task and did not start: its outputs keep their values.
  void task_skipped(LiveTask& task);
  /// The task will not run. Its outputs keep their values; tasks that depend on its results are cancelled, too.
  void cancel(LiveTask& task);
  /// Cancels all tasks that no worker has; each operation on a lost device fails and does so again: it is reported
  /// once.
  void cancel_all(std::exception_ptr error);
  /// The tasks that wait for the datum fail, or it does not get home.
  void copy_failed(TransferId transfer, std::exception_ptr error);
  /// No room will become free: the exclusive task fails, or a datum does not get home. False if there is neither.
  bool fail_one();
  /// The same for a value that another process asked for: false if none waits for room, or one is being sent.
  bool fail_outgoing_value();

 private:
  // Bounds the memory for tasks that have ended.
  static constexpr std::size_t most_ended = 100'000;

  void ended_badly(TaskId task, std::uint32_t cause) {
    if (m_ended.size() < most_ended) m_ended.emplace(task, cause);
  }
  [[nodiscard]] Failure const* of_the_run() const;
  [[nodiscard]] TaskOrigin origin_of(LiveTask const& task) const;
  [[nodiscard]] std::uint32_t cause_of(Task const& task) const;
  [[nodiscard]] std::uint32_t first_unreported() const;  // or no_cause
  void end_without_result(LiveTask& task, std::uint32_t cause);
  void end_without_run(LiveTask& task, std::uint32_t cause);
  void name_loss(DataId data, std::uint32_t cause);
  void home_failed(DataId data, NodeId lost_on, std::exception_ptr error);
  void fail_waiting_for(DataId data, NodeId node, std::exception_ptr const& error);
  void cancel_unissued();
  [[nodiscard]] std::exception_ptr out_of_room(NodeId node, std::string const& who) const;

  PlannerContext& m_context;
  SchedulerCalls& m_scheduler;
  Dispatch& m_dispatch;
  Handovers& m_handovers;
  OutgoingValues& m_outgoing_values;
  Movement& m_movement;
  std::vector<Failure> m_failures;  // since the last report of all
  std::size_t m_reported = 0;       // of these, each for the only datum that it concerned; their `error` is null
  std::unordered_map<TaskId, std::uint32_t> m_ended;  // tasks that did not run or failed, and the cause
};

}  // namespace granary::detail
