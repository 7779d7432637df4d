// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/live_task.hpp>

#include <compare>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// Gives tasks turns on each datum that several tasks change in any order (AccessMode::Commute). A task that has no
/// unfinished predecessors takes the *tokens* of all such data at once, or none and waits. So a task with tokens does
/// not wait for the tokens of another one. It keeps them until it ends, also if a worker gives it back. If the
/// scheduler chooses turns, a task takes its tokens when it is committed instead, and loses them when it is given back.
class Commuting {
 public:
  explicit Commuting(LiveTasks const& tasks) : m_tasks(tasks) {}

  /// Returns true if the task has all its tokens, now or before; if not, it waits until `free` returns it.
  bool take(LiveTask const& task);
  /// True if no other task has one of its tokens.
  [[nodiscard]] bool can_take(LiveTask const& task) const;
  /// The task ended: others take its tokens. Returns those that have all of theirs now. Of the waiting tasks that can
  /// have them, the one of the highest priority is chosen first, then the first submitted. O(log n) for each chosen one
  /// and each more urgent one that still waits for another token.
  std::vector<TaskId> free(TaskId task, AccessList const& accesses);
  /// The task that has its turn on the datum, or an invalid id.
  [[nodiscard]] TaskId owner(DataId data) const;
  /// Calls `function(TaskId)` for each task, other than this one, that has a token which this one needs.
  template <class Function>
  void for_each_before(LiveTask const& task, Function&& function) const {
    for (auto const& access : task.accesses) {
      if (access.repeated || !commutes(access.mode)) continue;
      TaskId const other = owner(access.data);
      if (other.valid() && other != task.id) function(other);
    }
  }

 private:
  struct Waiting {
    std::int64_t priority;
    TaskId task;
    auto operator<=>(Waiting const& other) const {
      auto const by_priority = other.priority <=> priority;
      return std::is_neq(by_priority) ? by_priority : task <=> other.task;
    }
    bool operator==(Waiting const&) const = default;
  };
  struct Token {
    TaskId owner;
    std::set<Waiting> waiting;  // the most urgent first
  };

  void give(LiveTask const& task);

  LiveTasks const& m_tasks;
  std::unordered_map<DataId, Token> m_tokens;  // that some task has
};

}  // namespace granary::detail
