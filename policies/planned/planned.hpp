// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/bursts.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/planned/find_order.hpp>
#include <granary/detail/policies/planned/ready_by_rank.hpp>
#include <granary/detail/policies/planned/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

/// Runs the tasks in an order that was computed to move few bytes. Our own algorithm: `find_order` plans over the
/// submitted tasks, with no knowledge of matrices or tiles. Use it with `belady` eviction: the whole plan is published,
/// so that each datum's next use is known.
///
/// On one memory its groups take the first ready task of the plan. Several nodes share it out block by block: one whose
/// blocks are nearly done begins the next block of the plan that has a task ready for it, and whose inputs have all
/// been made or are made by blocks that have begun; where the tasks have no rows and columns, among such blocks the one
/// of whose data it holds the most. If there is none, an idle node begins the first block with a ready task. The data
/// of ready tasks are fetched early. A task goes first if the chain of tasks that it begins takes two thirds of the
/// time that is left, or more. When no block is left to begin, a node takes one task ahead of its workers, and one
/// without work takes over a datum of another one, with the tasks that still write it.
///
/// Only nodes with the fastest workers own blocks: devices, where there are some. Kinds of workers that are slow on a
/// task leave it to others while these have no more work than they can do; tasks for these kinds alone run there at
/// once.
///
/// Plans when at least as many tasks are new as are planned in blocks that have not begun, and these again with them:
/// so a task is planned twice on average. While many tasks are submitted between the ends of two tasks, it gives each
/// worker one task, and plans later. What was planned and has begun is kept. If all data fit in the memory, tasks run
/// by priority. On one memory, a fifth of the memory is left for tasks that are fetched ahead: groups may be as many
/// tasks ahead, at most 64. They are six where the transfers are estimated to take longer than the tasks: then the link
/// is always at work, and what matters is that little moves. They are three where a datum is loaded faster than a task
/// runs.
///
/// A plan costs what `find_order` does: about 5 µs for each task, in the call of `next` that makes it; other calls
/// O(log tasks).
class GRANARY_EXPORT PlannedScheduler final : public Scheduler, public SystemEvents, public SchedulerLimits {
 public:
  struct Options {
    std::uint64_t effort = 1500;  ///< OrderProblem::effort
    std::int64_t ahead = -1;      ///< tasks that groups may be ahead; negative: by memory
  };
  explicit PlannedScheduler(Options const& options) : m_options(options) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void finished(TaskId task) override;
  void caught_up() override { m_bursts.end(); }
  /// A task without plan, or of a block of the group's node.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override;
  /// Turns follow the plan as well.
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true, .chooses_turns = true}; }
  [[nodiscard]] std::uint32_t most_ahead(GroupId group, std::uint32_t depth) const override;
  /// `plans`, and the last one's `planned blocks` and the bytes that it `expects` to move.
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

 private:
  static constexpr std::uint32_t no_block = 0xffffffffU;
  static constexpr std::uint64_t most_ahead_by_memory = 64;
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

  [[nodiscard]] bool due() const;
  void plan();
  [[nodiscard]] std::vector<TaskId> take_pending();
  [[nodiscard]] OrderGraph graph_of(std::vector<TaskId> const& tasks);
  [[nodiscard]] FoundOrder order_of(std::vector<TaskId> const& tasks) const;
  [[nodiscard]] FoundOrder order_by_speed(std::vector<TaskId> const& tasks);
  [[nodiscard]] double kernel_seconds(std::vector<TaskId> const& tasks) const;
  void publish(std::vector<TaskId> const& tasks, FoundOrder const& order);
  void publish(TaskId task);
  void link_blocks(std::vector<TaskId> const& tasks, FoundOrder const& order);
  [[nodiscard]] double least_side(std::vector<TaskId> const& tasks) const;
  void deal(GroupId group);
  [[nodiscard]] std::uint32_t block_for(NodeId node);
  [[nodiscard]] double part_held(Block& block, NodeId node) const;
  [[nodiscard]] bool is_open(Block& block) const;
  void count_ready(std::uint32_t block, bool more);
  [[nodiscard]] bool leaves_rest(GroupId group) const;
  [[nodiscard]] TaskId first_own(GroupId group) const;
  void take_chain(TaskId task, NodeId node);
  void want_inputs(TaskId task);
  [[nodiscard]] std::uint64_t ahead_of(Bytes memory) const;
  [[nodiscard]] std::vector<TaskId> left_of(std::uint32_t block) const;
  void begin_block(std::uint32_t block, NodeId owner);
  [[nodiscard]] GroupSet groups_for(Task const& task, Block const* block) const;
  [[nodiscard]] GroupSet groups_on(NodeId node) const;
  [[nodiscard]] Block const* block_of(Entry const& entry) const;
  void insert_ready(TaskId task);
  void erase_ready(TaskId task);
  void offer(TaskId task);
  void recall(TaskId task);
  void change_offer(TaskId task, bool offered);
  template <class Change>
  void change_turns(AccessList const& accesses, Change&& change);
  [[nodiscard]] bool has_work(GroupId group) const;
  [[nodiscard]] bool too_early(TaskId task, GroupId group) const;
  [[nodiscard]] bool elsewhere(TaskId task) const;
  [[nodiscard]] GroupId planned_group(TaskId task) const;
  [[nodiscard]] TaskId take_over(GroupId group);
  TaskId give_in_turn(TaskId task);
  TaskId give(TaskId task);
  void forget(TaskId task);

  Options m_options;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  SlowerGroups m_slower;
  GroupSet m_planned_groups;  // of the nodes that are planned for: devices, or else those with workers
  std::size_t m_planned_workers = 0;
  NodeId m_only_node;        // of these; invalid: there are several
  std::size_t m_nodes = 0;   // how many they are
  Bytes m_memory = 0;        // the smallest of their memories
  TaskTable<Entry> m_tasks;  // not given to a group
  std::unordered_map<std::uint32_t, Block> m_blocks;
  std::uint32_t m_next_block = 0;
  std::int64_t m_next_rank = 0;
  std::vector<TaskId> m_pending;       // new tasks, and planned ones whose block may have begun, or that were given
  std::size_t m_new = 0;               // tasks without a plan
  Bursts m_bursts;                     // of submissions
  std::size_t m_unbegun = 0;           // tasks of blocks that have not begun
  ReadyByRank m_own;                   // ready tasks of blocks with an owner
  ReadyByRank m_urgent;                // the same with several nodes, the longest chains first
  ReadyByRank m_others;                // other ready tasks
  std::set<std::uint32_t> m_to_begin;  // blocks without owner with ready tasks for the plan's groups
  bool m_has_plane = false;            // FoundOrder::has_plane, of the last plan
  double m_seconds_left = 0;           // of the tasks that were not given to a group, on their fastest groups
  Turns m_turns;                       // of ready tasks that commute
  OrderGraph m_graph;
  Bytes m_data_bytes = 0;                             // of m_graph
  Bytes m_mean_bytes = 1;                             // of a datum of the last plan
  bool m_fits = true;                                 // all data of the last plan
  std::uint64_t m_most_ahead = most_ahead_by_memory;  // tasks of the last plan that are fetched ahead
  double m_seconds_per_byte = 0;                      // of data that had to be loaded, at the last plan
  std::uint64_t m_plans = 0;
  double m_expected = 0;
};

}  // namespace granary::detail
