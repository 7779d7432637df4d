// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/indexed_heap.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/lazy_task_heap.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace granary::detail {

/// readyTasks and dataNotInMem of DARTS (section 5.3): the ready tasks that are in no plan, and the values that
/// Algorithm 3 compares, for every group k and every datum D that they read and that is not loaded on k. The values are
/// updated incrementally.
///
/// A datum is *loaded* for a group when it is allocated on the group's node or is an input of a planned or committed
/// task of the group. Data that a task only writes are not inputs. A task is considered only for the groups given when
/// it was added. Sums are of integer nanoseconds and therefore exact; a task's durations are read when it is added.
///
/// Adding and removing a task costs O(inputs · groups · log); loading or losing a datum costs O(ready tasks that read
/// it).
class GRANARY_EXPORT DartsIndex {
 public:
  void attach(SystemView const& view, PlanBoard const& board);

  /// `groups`: the groups for which it is considered, of those on which it is allowed.
  void add(TaskId task, GroupSet groups);
  void remove(TaskId task);
  [[nodiscard]] bool contains(TaskId task) const { return m_ready.contains(task); }

  /// Updates whether the datum is loaded for the group.
  void refresh(DataId data, GroupId group);
  /// The datum's replicas changed on some node, and with them the time to load it.
  void replicas_changed(DataId data);
  [[nodiscard]] bool loaded(DataId data, GroupId group) const;

  /// Line 6: D_opt; invalid when no task lacks only one or two data on the group.
  [[nodiscard]] DataId best_data(GroupId group);
  /// S0(D), in the order of planning: by priority, then submission. O(ready tasks that read D).
  [[nodiscard]] std::vector<TaskId> enabled_by(DataId data, GroupId group) const;
  /// Line 11: the task of S1(D) with the highest priority; invalid when there is none.
  [[nodiscard]] TaskId best_one_further(DataId data, GroupId group);
  /// Line 15: the ready task with the highest priority; invalid when there is none.
  [[nodiscard]] TaskId best_ready(GroupId group);

  /// Tasks that became free on some group since the last call, by priority, then submission; some may not be free any
  /// more.
  [[nodiscard]] std::vector<TaskId> take_free_candidates();
  /// True if all the task's inputs are loaded for the group; false for a group for which it is not considered.
  [[nodiscard]] bool is_free(TaskId task, GroupId group) const;

 private:
  struct Input {
    std::uint32_t data;
    std::uint32_t place;  // in m_users[data]
  };
  struct Ready {
    TaskId id;
    std::int64_t priority = 0;
    GroupSet groups = {};
    std::uint32_t input_count = 0;
    std::array<Input, 4> few = {};
    std::unique_ptr<Input[]> many = {};
    [[nodiscard]] std::span<Input> inputs() { return {many ? many.get() : few.data(), input_count}; }
    [[nodiscard]] std::span<Input const> inputs() const { return {many ? many.get() : few.data(), input_count}; }
  };
  // A ready task's state for one group.
  struct Lane {
    std::int64_t duration_ns = 0;
    std::uint32_t missing = 0;  // inputs that are not loaded
  };
  struct User {
    std::uint32_t slot;
    std::uint32_t input;
  };
  struct Tops {
    std::array<LazyTaskHeap, 2> of;  // S0, S1
  };
  // The state, for one group, of a datum that ready tasks read.
  struct Datum {
    std::int64_t computation_ns = 0;  // computation_time: durations of S0
    std::int64_t task_left_ns = 0;
    std::int64_t transfer_ns = 0;
    std::array<std::uint32_t, 2> size{};  // |S0|, |S1|
    std::unique_ptr<Tops> tops;           // only if many tasks read the datum
    bool loaded = false;
    bool changed = false;  // is in m_changed: its key may be out of date
    bool transfer_changed = true;
  };
  struct Key {
    std::int64_t transfer_ns;
    std::int64_t computation_ns;
    std::int64_t max_priority;
    std::int64_t task_left_ns;
    std::uint32_t s0;
    std::uint32_t s1;
    std::uint32_t data;
  };
  struct Better {
    bool operator()(Key const& a, Key const& b) const;
  };
  struct HeapOfGroups {
    GroupSet groups;
    std::uint64_t tasks = 0;  // in the ready set for these groups
    LazyTaskHeap heap;
  };

  // For data that have a place.
  [[nodiscard]] Datum& datum(std::uint32_t data, std::size_t group) {
    return m_data[m_places[data] * m_groups + group];
  }
  [[nodiscard]] std::vector<User>& users_of(std::uint32_t data) { return m_users[m_places[data]]; }
  [[nodiscard]] std::vector<User> const& users_of(std::uint32_t data) const { return m_users[m_places[data]]; }
  [[nodiscard]] bool has_users(DataId data) const {
    return data.index() < m_places.size() && m_places[data.index()] != no_place && !users_of(data.value()).empty();
  }
  [[nodiscard]] Lane& lane(std::uint32_t slot, std::size_t group) { return m_lanes[slot * m_groups + group]; }
  [[nodiscard]] Lane const& lane(std::uint32_t slot, std::size_t group) const {
    return m_lanes[slot * m_groups + group];
  }
  [[nodiscard]] bool considered(TaskId task, std::size_t group, std::uint32_t missing) const;

  [[nodiscard]] HeapOfGroups& heap_of(GroupSet groups);
  void link_inputs(std::uint32_t slot, AccessList const& accesses);
  void take_place(std::uint32_t data);
  void give_back_place(std::uint32_t data);
  void unlink_input(Input const& input);
  template <bool Add>
  void count(std::uint32_t slot, std::size_t group);
  void load(std::uint32_t data, std::size_t group, bool loaded);
  void mark_changed(std::uint32_t data, std::size_t group);
  void update_keys(std::size_t group);
  [[nodiscard]] RankedTask top(std::uint32_t data, std::size_t group, std::uint32_t missing);

  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  std::size_t m_groups = 0;
  TaskTable<Ready> m_ready;
  std::vector<Lane> m_lanes;  // by slot and group
  // Ready tasks read few of all data: these have a place in the arrays below, the others take four bytes.
  static constexpr std::uint32_t no_place = 0xffffffffU;
  std::vector<std::uint32_t> m_places;  // by datum
  std::vector<std::uint32_t> m_free_places;
  std::vector<std::vector<User>> m_users;              // by place
  std::vector<Datum> m_data;                           // by place and group
  std::vector<std::vector<std::uint32_t>> m_changed;   // by group
  std::vector<IndexedHeap<Key, Better>> m_candidates;  // by group: data with S0 or S1
  std::vector<HeapOfGroups> m_heaps;
  std::vector<RankedTask> m_became_free;
};

}  // namespace granary::detail
