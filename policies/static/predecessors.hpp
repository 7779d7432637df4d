// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/policy/task_table.hpp>

#include <span>
#include <vector>

namespace granary::detail {

/// The predecessors of submitted tasks, which follow from their accesses. Commuting accesses count as writes; tasks
/// that no worker runs are unknown. A submission costs O(accesses + predecessors).
class GRANARY_EXPORT Predecessors {
 public:
  void submitted(TaskId task, AccessList const& accesses);
  /// A task that came back and has no predecessors any more.
  void submitted_again(TaskId task) { m_before.insert(task, {}); }
  void ended(TaskId task) { static_cast<void>(m_before.take(task)); }
  [[nodiscard]] bool live(TaskId task) const { return m_before.contains(task); }
  /// Of a live task; some may have ended.
  [[nodiscard]] std::span<TaskId const> of(TaskId task) const { return m_before.at(task); }
  void forget(DataId data) {
    if (data.index() < m_uses.size()) m_uses[data.index()] = {};
  }

 private:
  struct Uses {
    TaskId writer;                // the last one
    std::vector<TaskId> readers;  // since then
  };
  std::vector<Uses> m_uses;  // by datum
  TaskTable<std::vector<TaskId>> m_before;
};

}  // namespace granary::detail
