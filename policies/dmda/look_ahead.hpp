// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/dmda/list_simulation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace granary::detail {

/// Decides whether a ready task goes to a core although `heftp` puts it on a device (Static, section V-A). If `heftp`
/// puts it on a core, it goes there: the paper's GB would ask the devices first.
class GRANARY_EXPORT LookAhead {
 public:
  enum class Rule : std::uint8_t {
    /// Local execution time: if it ends on a core no later than on the device, where in a simulation of `heftp` more
    /// urgent tasks pass it.
    Let,
    /// GPU busy: if all devices stay busy, in a simulation with the task on a core, until it ends there.
    Gb,
    /// Minimal makespan: if all tasks end earlier in a simulation with the task on a core.
    Mms,
  };
  /// A group and the expected end of the task there, from now.
  struct Candidate {
    GroupId group;
    Duration end{0};
  };

  explicit LookAhead(Rule rule) : m_rule(rule) {}

  /// As for ListSimulation.
  void attach(SystemView const& view, PlanBoard const& board, ExpectedStart const& starts,
              std::vector<Duration> const& work);
  /// Notifications of the scheduler.
  [[nodiscard]] KnownGraph& tasks() { return m_tasks; }
  /// True if the rule decides on anything: the machine has cores and devices.
  [[nodiscard]] bool active() const { return !m_simulation.empty(); }
  /// The group of the ready task. `core` and `device` are the best groups of each kind, and `plain` the one that heftp
  /// chooses, one of them. Let and Gb simulate until the task would end on a core, Mms until all known tasks have
  /// ended, twice; ListSimulation states the cost of a step.
  [[nodiscard]] GroupId choose(TaskId task, Candidate const& core, Candidate const& device, GroupId plain);

 private:
  [[nodiscard]] bool passed_on_device(TaskId task, GroupId device, Duration core_end);
  [[nodiscard]] bool devices_stay_busy(TaskId task, GroupId core);
  [[nodiscard]] bool shortens(TaskId task, GroupId core, GroupId device);

  Rule m_rule;
  KnownGraph m_tasks;
  std::vector<ListSimulation> m_simulation;  // none or one
};

}  // namespace granary::detail
