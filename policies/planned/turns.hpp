// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

/// For schedulers that choose turns (Scheduler::Traits::chooses_turns): the ready tasks that wait for their turns, by
/// rank, and who has them. A task is *first* if it is first on each datum on which it commutes, and nobody has a turn
/// there. Of all waiting tasks whose data nobody has, the first by rank is always first. O(log tasks) for each of its
/// data.
class GRANARY_EXPORT Turns {
 public:
  /// True if a task with these accesses commutes with others.
  [[nodiscard]] static bool needed(AccessList const& accesses);
  void enter(TaskId task, std::int64_t rank, AccessList const& accesses);
  /// `rank` as it entered.
  void leave(TaskId task, std::int64_t rank, AccessList const& accesses);
  /// The task has its turns until `end`.
  void take(TaskId task, AccessList const& accesses);
  void end(TaskId task, AccessList const& accesses);

  [[nodiscard]] bool first(TaskId task, AccessList const& accesses) const;
  /// The tasks that are first on one of these data, whoever has the turn.
  [[nodiscard]] std::vector<TaskId> firsts(AccessList const& accesses) const;

 private:
  struct Line {
    TaskId owner;
    std::set<std::pair<std::int64_t, TaskId>> waiting;
  };
  void forget_if_empty(DataId data);

  std::unordered_map<DataId, Line> m_lines;  // on which somebody waits or has a turn
};

}  // namespace granary::detail
