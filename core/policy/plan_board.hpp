// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/policy/task_table.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace granary {

namespace detail {

/// The position of a task in a plan: smaller ranks come first; among equal ranks the one that was inserted first.
struct GRANARY_EXPORT PlanPosition {
  std::int64_t rank = 0;
  std::uint64_t number = 0;
  auto operator<=>(PlanPosition const&) const = default;
};

}  // namespace detail

/// The orders that a scheduler has published, one per group: the planned part of each plan. The planner and eviction
/// policies read it.
///
/// Inserting and removing a task costs O(accesses) and, for `insert`, O(log tasks of the plan).
///
/// ```cpp
/// granary::PlanBoard board(/*groups=*/1);
/// granary::GroupId const group(0);
/// granary::DataId const x(0);
/// granary::Access const reads_x[] = {{x, granary::AccessMode::Read}};
/// board.append(group, granary::TaskId(4), granary::AccessList(reads_x));
/// board.insert(group, granary::TaskId(7), granary::AccessList(reads_x), /*rank=*/-1);  // before it
/// assert(board.plan(group).begin()->second == granary::TaskId(7));
/// assert(board.uses(x, group) == 2);  // an eviction policy keeps x
/// ```
class GRANARY_EXPORT PlanBoard {
 public:
  using Plan = std::map<detail::PlanPosition, TaskId>;

  explicit PlanBoard(std::size_t groups) : m_plans(groups) {}

  /// Appends the task to the group's plan; a task is in at most one plan: if it is in one already, or there is no such
  /// group, throws InvalidArgument.
  void append(GroupId group, TaskId task, detail::AccessList const& accesses);
  /// Inserts the task after tasks of smaller or equal rank. An appended task has the rank of the one before it.
  void insert(GroupId group, TaskId task, detail::AccessList const& accesses, std::int64_t rank);
  /// Removes the task from its plan, if it is in one.
  void remove(TaskId task);
  /// The planner may bring what the planned task reads to the group's node before the task is committed: in the order
  /// of positions, without delay for what committed tasks need, and evicting nothing that committed or planned tasks of
  /// the node use. Otherwise inputs are fetched once their task is committed. For tasks that were reported ready.
  /// O(accesses · log). Throws InvalidArgument for a task that is not planned.
  void want_inputs(TaskId task);
  [[nodiscard]] bool wants_inputs(TaskId task) const { return m_entries.at(task).wanted; }
  /// All groups are asked for their next tasks again: a group that took none may be given some now, though none of them
  /// became ready for it. O(groups).
  void ask_all_groups() {
    if (m_observer != nullptr) m_observer->all_groups_asked();
  }
  /// The group's planned tasks in order.
  [[nodiscard]] Plan const& plan(GroupId group) const { return m_plans[group.index()].order; }
  [[nodiscard]] bool planned(TaskId task) const { return m_entries.contains(task); }
  /// The position of the planned task. A board never uses the number of a position twice.
  [[nodiscard]] detail::PlanPosition position(TaskId task) const { return m_entries.at(task).place->first; }
  /// The number of planned tasks of the group that use the datum.
  [[nodiscard]] std::uint32_t uses(DataId data, GroupId group) const {
    auto const& uses = m_plans[group.index()].uses;
    return data.index() < uses.size() ? uses[data.index()].count : 0;
  }
  /// The planned tasks of the group that use the datum, in no particular order.
  [[nodiscard]] std::vector<TaskId> users(DataId data, GroupId group) const;
  /// The last inserted of the group's planned tasks that use the datum; invalid when there is none.
  [[nodiscard]] TaskId newest_user(DataId data, GroupId group) const {
    auto const& uses = m_plans[group.index()].uses;
    if (data.index() >= uses.size() || uses[data.index()].first == none) return {};
    return m_entries[m_uses[uses[data.index()].first].entry].place->second;
  }
  /// Calls `function(TaskId, PlanPosition)` for each of them, the last inserted first.
  template <class Function>
  void for_each_user(DataId data, GroupId group, Function&& function) const {
    auto const& uses = m_plans[group.index()].uses;
    if (data.index() >= uses.size()) return;
    for (auto use = uses[data.index()].first; use != none; use = m_uses[use].next) {
      auto const& entry = m_entries[m_uses[use].entry];
      function(entry.place->second, entry.place->first);
    }
  }

  class Observer {
   public:
    virtual ~Observer() = default;
    /// After the number of the datum's planned uses changed.
    virtual void planned_uses_changed(DataId data, GroupId group) = 0;
    /// The inputs of the planned task are wanted; before it leaves the plan, they are not any more.
    virtual void inputs_wanted(TaskId, GroupId, detail::PlanPosition) {}
    virtual void inputs_given_up(TaskId, GroupId, detail::PlanPosition) {}
    virtual void all_groups_asked() {}
  };
  void observe(Observer* observer) { m_observer = observer; }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  // A task's use of a datum, linked with the other uses of the datum in the group and with the task's next use.
  struct Use {
    DataId data;
    std::uint32_t entry;
    std::uint32_t previous;
    std::uint32_t next;
    std::uint32_t next_of_task;
  };
  struct Uses {
    std::uint32_t first = none;
    std::uint32_t count = 0;
  };
  struct Group {
    Plan order;
    std::vector<Uses> uses;  // by datum
  };
  struct Entry {
    GroupId group;
    Plan::iterator place;
    std::uint32_t first_use;
    bool wanted;  // its inputs
  };

  void check(GroupId group, TaskId task) const;
  void put(GroupId group, TaskId task, detail::AccessList const& accesses, detail::PlanPosition position, bool at_end);
  void link(std::uint32_t entry, DataId data);

  std::vector<Group> m_plans;
  TaskTable<Entry> m_entries;
  std::vector<Use> m_uses;
  std::uint32_t m_free_use = none;
  std::uint64_t m_put = 0;
  Observer* m_observer = nullptr;
};

}  // namespace granary
