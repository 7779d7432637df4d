// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/superblock/block_builder.hpp>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {

/// Runs the graph in *blocks*: sets of data that are written together while their inputs stream through memory. Our own
/// algorithm. On tiled factorizations it finds the superblock order, which keeps a block of the result resident and
/// moves about N³/√M elements; schedulers that see only ready tasks also stream the result.
///
/// Each task belongs to the first datum that it writes. A group without ready tasks opens a block (see BlockBuilder):
/// it owns the block's data and runs all tasks that write them, older blocks first, in the order of submission. All
/// tasks of a block are in the group's plan from the start, ready or not; use it with `belady` eviction, which reads
/// the plan. A group that cannot open a block takes a datum over from the group with the most ready tasks.
///
/// If kinds of workers differ, a datum's owner is nearly as fast as the fastest on all tasks together that write it and
/// that the owner may run: a block ends with its slowest task, and its readers wait. Other groups take single tasks:
/// those that the owner may not run; first tasks of data that do not suit them; and, if they are slower, what
/// SlowerGroups selects. An owner that tasks submitted later make too slow loses the datum when one of them is ready.
///
/// It plans over the whole window of submitted tasks: submit early. A decision costs O(log ready tasks); opening blocks
/// costs O(log) per reader of a block's inputs, and if kinds differ O(tasks that write it) for each datum considered.
class GRANARY_EXPORT SuperblockScheduler final : public Scheduler {
 public:
  /// `fill`: the part of a node's memory for a block. `share`: a block has at most 1/share of a group's part of the
  /// data that are still to be written.
  SuperblockScheduler(double fill, double share) : m_blocks(fill, share) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  /// A task of the group's blocks.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override;
  void finished(TaskId task) override;
  [[nodiscard]] bool keeps_plans() const override { return true; }

 private:
  /// Ready tasks by block, then submission.
  using ReadyTasks = std::set<std::pair<std::uint64_t, TaskId>>;

  void open_block(TaskId seed, GroupId group);
  void let_go(DataId data);
  void claim(DataId data, GroupId group, std::uint64_t block);
  void give(TaskId task);
  void forget(TaskId task);
  void leave_ready(Task const& task);
  [[nodiscard]] TaskId take_over(GroupId group);
  [[nodiscard]] TaskId take_single(TaskId id);
  [[nodiscard]] TaskId take_slowly(GroupId group);
  [[nodiscard]] bool worth_taking(TaskId task, GroupId from, GroupId by) const;

  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  BlockBuilder m_blocks;
  SlowerGroups m_slower;
  std::vector<ReadyTasks> m_ready;  // by group: tasks of its blocks
  ReadyPool m_pool;                 // ready tasks of data without owner
  ReadyPool m_unowned;              // ready tasks that their datum's owner cannot run, or that write nothing
  std::uint64_t m_last_block = 0;
};

}  // namespace granary::detail
