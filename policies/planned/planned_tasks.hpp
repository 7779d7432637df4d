// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/policy/task_table.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// The tasks that no group has, and the blocks of their plan. A block has an owner, the node that runs it, once it has
/// begun; with one node, from the start.
class PlannedTasks {
 public:
  static constexpr std::uint32_t no_block = 0xffffffffU;
  struct Entry {
    std::int64_t rank;
    double seconds = 0;      // with several nodes: on the fastest group
    std::int64_t chain = 0;  // ns of the longest chain of planned tasks that begins with it
    std::uint32_t block = no_block;
    GroupId plan;  // on whose plan it is; invalid: none
    bool ready = false;
    bool offered = false;  // among the ready tasks of groups
  };
  struct Block {
    NodeId owner = {};
    bool begun = false;
    std::vector<TaskId> tasks = {};
    std::size_t left = 0;
    std::size_t ready = 0;                  // of its tasks, for the plan's groups, while it has no owner
    std::vector<DataId> data = {};          // with several nodes, once asked for
    std::vector<std::uint32_t> after = {};  // the blocks that make its inputs
  };

  /// A new task, which has no plan.
  void add(TaskId task);
  void remove(TaskId task);
  [[nodiscard]] bool contains(TaskId task) const { return m_tasks.contains(task); }
  [[nodiscard]] Entry const& at(TaskId task) const { return m_tasks.at(task); }
  [[nodiscard]] Entry& operator[](TaskId task) { return m_tasks[m_tasks.slot(task)]; }

  [[nodiscard]] Block& block(std::uint32_t number) { return m_blocks.at(number); }
  /// The block of a task; null: it has no plan.
  [[nodiscard]] Block const* block_of(Entry const& entry) const;
  /// True if the block has not ended, nor begun.
  [[nodiscard]] bool waits(std::uint32_t number) const;
  /// The tasks of the block that no group has.
  [[nodiscard]] std::vector<TaskId> left_of(std::uint32_t number) const;

  /// Takes these tasks, whose blocks have not begun, off their blocks.
  void unplan(std::vector<TaskId> const& tasks);
  /// The number of the block with this number in a new plan, before `end_plan`.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t in_plan) const { return m_blocks_made + in_plan; }
  /// Makes the block of a new plan.
  [[nodiscard]] Block& make_block(std::uint32_t in_plan) { return m_blocks[number_of(in_plan)]; }
  /// Adds the task to a block of a new plan, as the plan's next one.
  void add_to_block(TaskId task, std::uint32_t in_plan, NodeId owner);
  /// All tasks of the new plan have their blocks; `blocks`: for each of these tasks.
  void end_plan(std::vector<std::uint32_t> const& blocks);
  /// The block is not planned again.
  void begin(std::uint32_t number, NodeId owner);
  /// Makes a block that has begun of tasks of another one. They join it with `join`, and leave the other with `leave`.
  [[nodiscard]] std::uint32_t make_begun_block(std::vector<TaskId> const& tasks, NodeId owner);
  void join(TaskId task, std::uint32_t number) { (*this)[task].block = number; }
  void leave(std::uint32_t number, std::size_t tasks);

  /// A task of the block became ready or ceased to be so, while the block has no owner.
  void count_ready(std::uint32_t number, bool more);
  /// The blocks without owner that have such tasks, in the order of the plan.
  [[nodiscard]] std::set<std::uint32_t> const& to_begin() const { return m_to_begin; }

  /// The time of the task on its fastest group.
  void set_seconds(TaskId task, double seconds);
  [[nodiscard]] double seconds_left() const { return m_seconds_left; }
  [[nodiscard]] std::size_t without_plan() const { return m_new; }
  /// Tasks of blocks that have not begun.
  [[nodiscard]] std::size_t unbegun() const { return m_unbegun; }
  [[nodiscard]] std::uint32_t blocks_made() const { return m_blocks_made; }

 private:
  TaskTable<Entry> m_tasks;
  std::unordered_map<std::uint32_t, Block> m_blocks;
  std::set<std::uint32_t> m_to_begin;
  std::uint32_t m_blocks_made = 0;
  std::int64_t m_next_rank = 0;
  std::size_t m_new = 0;
  std::size_t m_unbegun = 0;
  double m_seconds_left = 0;
};

}  // namespace granary::detail
