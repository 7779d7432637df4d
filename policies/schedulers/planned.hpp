// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/policy/scheduler.hpp>
#include <granary/core/policy/task_table.hpp>
#include <granary/policies/order/find_order.hpp>
#include <granary/policies/schedulers/ready_by_rank.hpp>
#include <granary/policies/schedulers/slower_groups.hpp>
#include <granary/policies/schedulers/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary {

/// Runs the tasks in an order that was computed to move few bytes. Our own algorithm: `find_order` plans over the
/// submitted tasks, with no knowledge of matrices or tiles. Use it with `belady` eviction: the whole plan is published,
/// so that each datum's next use is known.
///
/// On one memory its groups take the first ready task of the plan. If several nodes have workers, each takes the plan's
/// next block when it has no ready task of its blocks; the other rules are those of SuperblockScheduler: kinds of
/// workers that are slow on a task leave it to others while these have no more work than they can do.
///
/// Plans when at least as many tasks are new as are planned in blocks that have not begun, and these again with them:
/// so a task is planned twice on average. While many tasks are submitted from the end of one task to that of the next,
/// it gives each worker one task, and plans later. What was planned and has begun is kept. If all data fit in the
/// memory, tasks run by priority. A fifth of the memory is left for tasks that are fetched ahead: groups may be as many
/// tasks ahead, at most 64. They are six where the transfers are estimated to take longer than the tasks: then the link
/// is always at work, and what matters is that little moves. They are three where a datum is loaded faster than a task
/// runs.
///
/// A plan costs what `find_order` does: about 5 µs for each task, in the call of `next` that makes it; other calls
/// O(log tasks).
class GRANARY_EXPORT PlannedScheduler final : public Scheduler {
 public:
  struct Options {
    std::uint64_t effort = 1500;  ///< OrderProblem::effort
    double share = 2;             ///< with several nodes: a block has at most 1/share of a node's part of the data
    std::int64_t ahead = -1;      ///< tasks that groups may be ahead; negative: by memory
  };
  explicit PlannedScheduler(Options const& options) : m_options(options) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void finished(TaskId task) override;
  /// A task without plan, or of a block of the group's node.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override;
  [[nodiscard]] bool keeps_plans() const override { return true; }
  /// Turns follow the plan as well.
  [[nodiscard]] bool chooses_turns() const override { return true; }
  [[nodiscard]] std::uint32_t most_ahead(GroupId group, std::uint32_t depth) const override;
  /// `plans`, and the last one's `planned blocks` and the bytes that it `expects` to move.
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

 private:
  static constexpr std::uint32_t no_block = 0xffffffffU;
  static constexpr std::uint64_t most_ahead_by_memory = 64;
  struct Entry {
    std::int64_t rank;
    std::uint32_t block = no_block;
    GroupId plan;  // on whose plan it is; invalid: none
    bool ready = false;
    bool offered = false;  // among the ready tasks of groups
  };
  struct Block {
    NodeId owner;
    bool begun = false;
    std::vector<TaskId> tasks;
    std::size_t left = 0;
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
  [[nodiscard]] ReadyByRank& ready_of(Block const* block) {
    return block != nullptr && block->owner.valid() ? m_own : m_others;
  }
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
  NodeId m_only_node;         // of these; invalid: there are several
  std::size_t m_nodes = 0;    // how many they are
  Bytes m_memory = 0;         // the smallest of their memories
  TaskTable<Entry> m_tasks;   // not given to a group
  std::unordered_map<std::uint32_t, Block> m_blocks;
  std::uint32_t m_next_block = 0;
  std::int64_t m_next_rank = 0;
  std::vector<TaskId> m_pending;  // new tasks, and planned ones whose block may have begun, or that were given
  std::size_t m_new = 0;          // tasks without a plan
  std::size_t m_burst = 0;        // tasks submitted since the last one finished
  std::size_t m_last_burst = 0;   // between the last two
  std::size_t m_unbegun = 0;      // tasks of blocks that have not begun
  ReadyByRank m_own;              // ready tasks of blocks with an owner
  ReadyByRank m_others;           // other ready tasks
  Turns m_turns;                  // of ready tasks that commute
  OrderGraph m_graph;
  Bytes m_data_bytes = 0;                             // of m_graph
  Bytes m_mean_bytes = 1;                             // of a datum of the last plan
  bool m_fits = true;                                 // all data of the last plan
  std::uint64_t m_most_ahead = most_ahead_by_memory;  // tasks of the last plan that are fetched ahead
  double m_seconds_per_byte = 0;                      // of data that had to be loaded, at the last plan
  std::uint64_t m_plans = 0;
  double m_expected = 0;
};

}  // namespace granary
