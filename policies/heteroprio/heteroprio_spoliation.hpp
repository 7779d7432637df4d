// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_buckets.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace granary::detail {

/// Heteroprio with spoliation (Static, section VI-B): CPU workers take any task, and what they run is taken away from
/// them when a device needs it. As in the paper a worker gets a task only when it is idle, CPU workers take the least
/// urgent task of the lowest acceleration, and devices the most urgent one of the highest. Of idle workers, devices
/// choose first.
///
/// - `Sp`: a device for which no task is ready takes the most urgent one that runs on a CPU worker.
/// - `Pp`: moreover, if all workers are busy and a task of the *slow* codelet (POTRF in the paper) is ready, the least
///   urgent other task on a CPU worker makes way for it. Buckets are merged for devices (CGV).
/// - `Pc`: moreover, a device takes no ready task that is less urgent than one on a CPU worker, but that one. `Pcep`:
///   the slow codelet's tasks on CPU workers do not count there; `Pcept`: nor do tasks of all codelets of less than
///   half of the highest acceleration (TRSM in the paper).
///
/// The slow codelet has the lowest acceleration, if this is less than half of the highest one; else there is none. A
/// device takes a task away only if it is faster on it than the task's present worker. Beside the cost of
/// HeteroprioBuckets, a device's question costs O(tasks on CPU workers).
class GRANARY_EXPORT SpoliatingHeteroprio final : public Scheduler, public TaskAborter {
 public:
  enum class Rules : std::uint8_t { Sp, Pp, Pc, Pcep, Pcept };

  SpoliatingHeteroprio(Rules rules, HeteroprioOptions options) : m_rules(rules), m_buckets(std::move(options)) {}

  /// The options that the user does not state.
  [[nodiscard]] static HeteroprioOptions defaults(Rules rules);

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  void finished(TaskId task) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  [[nodiscard]] TaskId abort_for(GroupId group) override;
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

 private:
  // Half: less than half of the highest acceleration. Most: the slow codelet.
  enum class Slowness : std::uint8_t { No, Half, Most };
  // A task that is being stopped, or was and waits for the device that asked.
  struct Stopped {
    enum class State : std::uint8_t { Asked, Ended, Back, Ready };
    TaskId task;
    GroupId by;
    bool preempted = false;  // for another task, on its own group
    State state = State::Asked;
  };

  [[nodiscard]] bool has_idle_worker(GroupId group) const;
  [[nodiscard]] bool all_busy() const;
  [[nodiscard]] TaskId take_stopped(GroupId group);
  [[nodiscard]] TaskId most_urgent_for(GroupId device_group, bool constrain) const;
  [[nodiscard]] TaskId to_preempt(GroupId group) const;
  [[nodiscard]] bool chooses_now(GroupId device_group) const;
  [[nodiscard]] TaskId choice_of(GroupId device_group) const;
  [[nodiscard]] TaskId first_ready(GroupId group, std::optional<std::int64_t> at_least) const;
  [[nodiscard]] bool exempt(TaskId task) const;
  [[nodiscard]] Slowness slowness(TaskId task) const;
  [[nodiscard]] TaskId taken(TaskId task);
  [[nodiscard]] TaskId stop(TaskId task, GroupId by, bool preempt);
  void classify();
  void forget_ended();

  Rules m_rules;
  SystemView const* m_view = nullptr;
  HeteroprioBuckets m_buckets;
  std::vector<GroupId> m_cpu_groups;
  std::vector<GroupId> m_devices;
  std::vector<Slowness> m_slowness;        // by bucket
  std::optional<std::uint32_t> m_slowest;  // the slow codelet's
  std::uint64_t m_classified = 0;          // how often the buckets were ordered until then
  std::vector<Stopped> m_stopped;  // at most one for each CPU worker that has not answered, and for each device worker
  std::uint64_t m_spoliations = 0;
  std::uint64_t m_preemptions = 0;
};

}  // namespace granary::detail
