// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/planner/dispatch/dispatch.hpp>
#include <granary/core/planner/failure.hpp>

#include <exception>
#include <string>
#include <vector>

namespace granary::detail {

/// What failed and was not reported yet; what is cancelled or loses its value with it, and what is kept.
class Failures {
 public:
  Failures(PlannerContext& context, Scheduler& scheduler, Dispatch& dispatch, Movement& movement)
      : m_context(context), m_scheduler(scheduler), m_dispatch(dispatch), m_movement(movement) {}

  [[nodiscard]] bool empty() const { return m_failures.empty(); }
  /// In the order of submission; they are reported with this.
  std::vector<Failure> take();

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

 private:
  [[nodiscard]] std::uint32_t cause_of(Task const& task) const;
  void end_without_result(LiveTask& task, std::uint32_t cause);
  void end_without_run(LiveTask& task, std::uint32_t cause);
  void name_loss(DataId data, std::uint32_t cause);
  void home_failed(DataId data, NodeId lost_on, std::exception_ptr error);
  void fail_waiting_for(DataId data, NodeId node, std::exception_ptr const& error);
  void cancel_unissued();
  [[nodiscard]] std::exception_ptr out_of_room(NodeId node, std::string const& who) const;

  PlannerContext& m_context;
  Scheduler& m_scheduler;
  Dispatch& m_dispatch;
  Movement& m_movement;
  std::vector<Failure> m_failures;
};

}  // namespace granary::detail
