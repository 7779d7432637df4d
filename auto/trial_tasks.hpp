// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/policy/system_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

/// A copy of tasks that a scheduler knows, of their data, the machine and the estimated times: all that trial runs
/// need. It refers to nothing of the run, so another thread may use it while the run goes on. None of the tasks has
/// started in it, and all data are at their homes.
class GRANARY_EXPORT TrialTasks {
 public:
  /// By kind of worker; 0 if not known.
  using KindTimes = std::array<Duration, worker_kinds>;

  /// The tasks in the order of submission; `depth` is PlannerOptions::depth. O(accesses · log codelets).
  TrialTasks(SystemView const& view, std::span<TaskId const> tasks, std::uint32_t depth);

  struct Item {
    CodeletId codelet;
    std::uint32_t first_access;
    std::uint32_t accesses;
    std::int64_t priority;
    double flops;
    Duration shortest;  ///< on the fastest kind of worker
  };
  [[nodiscard]] std::size_t size() const { return m_tasks.size(); }
  [[nodiscard]] std::vector<Item> const& tasks() const { return m_tasks; }
  /// Each datum once, with its number here.
  [[nodiscard]] std::span<Access const> accesses(Item const& task) const {
    return std::span(m_accesses).subspan(task.first_access, task.accesses);
  }
  [[nodiscard]] std::vector<Codelet> const& codelets() const { return m_codelets; }
  [[nodiscard]] std::vector<DataDescription> const& data() const { return m_data; }
  [[nodiscard]] Machine const& machine() const { return m_machine; }
  [[nodiscard]] std::uint32_t depth() const { return m_depth; }
  /// Of tasks of a codelet of this copy with so many operations.
  [[nodiscard]] KindTimes const& times(CodeletId codelet, double flops) const {
    return m_times.at({codelet.value(), flops});
  }

 private:
  void add_data(SystemView const& view, DataId data, bool read, NodeId host);

  Machine m_machine;
  std::uint32_t m_depth;
  std::vector<Item> m_tasks;
  std::vector<Access> m_accesses;
  std::vector<Codelet> m_codelets;
  std::vector<DataDescription> m_data;
  std::map<std::pair<std::uint32_t, double>, KindTimes> m_times;
};

}  // namespace granary::detail
