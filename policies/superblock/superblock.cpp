// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/policies/superblock/block_builder.hpp>

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

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
class SuperblockScheduler final : public Scheduler {
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
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true}; }

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

SchedulerRegistration const superblock_registration("superblock",
                                                    [](PolicyOptions& options) {
                                                      return std::make_unique<SuperblockScheduler>(
                                                          options.number("fill", 0.8, 0.01, 1),
                                                          options.number("share", 2, 0.1, 1e6));
                                                    },
                                                    {.eviction = "belady",
                                                     .in_auto = {.place_if_data_fit = 6, .place_if_larger = 3}});

// Older blocks first; within a block the order of submission.
std::int64_t rank(std::uint64_t block, TaskId task) {
  return static_cast<std::int64_t>((block << 40U) | (task.value() & ((std::uint64_t{1} << 40U) - 1)));
}

}  // namespace

void SuperblockScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_slower.attach(view);
  m_blocks.attach(view, m_slower);
  m_ready.resize(view.topology().groups().size());
}

void SuperblockScheduler::submitted(TaskId id) {
  auto const& task = m_view->task(id);
  m_blocks.add(task);
  DataId const data = BlockBuilder::written(task);
  if (!data.valid()) return;
  GroupId const owner = m_blocks.owner(data);
  if (owner.valid() && task.allowed_on(owner))
    m_board->insert(owner, id, task.accesses, rank(m_blocks.block(data), id));
}

void SuperblockScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  auto const fast = m_slower.ready(task);
  DataId const data = BlockBuilder::written(task);
  GroupId owner = data.valid() ? m_blocks.owner(data) : GroupId{};
  // The chain may have grown since the group became the owner.
  if (owner.valid() && task.allowed_on(owner) && !fast.contains(owner) && !m_blocks.suits(data, owner)) {
    let_go(data);
    owner = {};
  }
  if (owner.valid() && task.allowed_on(owner)) {
    m_ready[owner.index()].emplace(m_blocks.block(data), id);
  } else if (data.valid() && !owner.valid()) {
    m_pool.insert(task, fast);
  } else {
    m_unowned.insert(task, task.allowed_groups);
  }
}

// The datum has no owner any more; ready tasks of its chain go to the pool.
void SuperblockScheduler::let_go(DataId data) {
  GroupId const owner = m_blocks.owner(data);
  for (TaskId const id : m_blocks.chain(data)) {
    auto const& task = m_view->task(id);
    m_board->remove(id);
    bool const was_ready =
        m_ready[owner.index()].erase({m_blocks.block(data), id}) != 0 || m_unowned.erase(task, task.allowed_groups);
    if (was_ready) m_pool.insert(task, m_slower.fast_groups(task));
  }
  m_blocks.disown(data);
}

TaskId SuperblockScheduler::next(GroupId group) {
  if (TaskId const unowned = m_unowned.first(group); unowned.valid()) {
    m_unowned.erase(m_view->task(unowned), m_view->task(unowned).allowed_groups);
    give(unowned);
    return unowned;
  }
  auto& ready = m_ready[group.index()];
  while (ready.empty()) {
    TaskId const seed = m_blocks.seed(m_pool, group);
    if (!seed.valid()) {
      TaskId const taken = take_over(group);
      return taken.valid() ? taken : take_slowly(group);
    }
    if (!m_blocks.suits(BlockBuilder::written(m_view->task(seed)), group)) return take_single(seed);
    open_block(seed, group);
  }
  TaskId const task = ready.begin()->second;
  ready.erase(ready.begin());
  give(task);
  return task;
}

bool SuperblockScheduler::hand_over(TaskId id, GroupId group) {
  DataId const data = BlockBuilder::written(m_view->task(id));
  if (!data.valid() || m_blocks.owner(data) != group) return false;
  give(id);
  return true;
}

void SuperblockScheduler::give(TaskId id) {
  auto const& task = m_view->task(id);
  m_board->remove(id);
  m_blocks.leave(task);
  m_slower.leave(task);
}

void SuperblockScheduler::open_block(TaskId seed, GroupId group) {
  ++m_last_block;
  m_blocks.grow(seed, group, [&](DataId data) { claim(data, group, m_last_block); });
}

void SuperblockScheduler::claim(DataId data, GroupId group, std::uint64_t block) {
  m_blocks.own(data, group, block);
  for (TaskId const id : m_blocks.chain(data)) {
    auto const& task = m_view->task(id);
    bool const was_in_pool =
        m_view->assignment(id).phase == TaskPhase::Ready && m_pool.erase(task, m_slower.fast_groups(task));
    if (!task.allowed_on(group)) {
      if (was_in_pool) m_unowned.insert(task, task.allowed_groups);
      continue;
    }
    m_board->insert(group, id, task.accesses, rank(block, id));
    if (was_in_pool) m_ready[group.index()].emplace(block, id);
  }
}

// Moves the datum whose task would run last to the group, with the rest of its chain if the group suits it.
TaskId SuperblockScheduler::take_over(GroupId group) {
  GroupId from;
  for (std::uint32_t g = 0; g < m_ready.size(); ++g) {
    if (GroupId(g) != group && (!from.valid() || m_ready[g].size() > m_ready[from.index()].size())) from = GroupId(g);
  }
  if (!from.valid() || m_ready[from.index()].empty()) return {};
  auto const last = std::prev(m_ready[from.index()].end());
  TaskId const id = last->second;
  if (!m_view->task(id).allowed_on(group) || !worth_taking(id, from, group)) return {};
  DataId const data = BlockBuilder::written(m_view->task(id));
  if (!m_blocks.suits(data, group)) return take_single(id);
  m_ready[from.index()].erase(last);
  give(id);
  m_blocks.own(data, group, ++m_last_block);
  for (TaskId const follower : m_blocks.chain(data)) {
    auto const& task = m_view->task(follower);
    m_board->remove(follower);
    if (task.allowed_on(group)) m_board->insert(group, follower, task.accesses, rank(m_last_block, follower));
  }
  return id;
}

// The datum keeps its owner, if it has one.
TaskId SuperblockScheduler::take_single(TaskId id) {
  leave_ready(m_view->task(id));
  give(id);
  return id;
}

TaskId SuperblockScheduler::take_slowly(GroupId group) {
  TaskId const id = m_slower.best_for(group);
  return id.valid() ? take_single(id) : id;
}

// True if the group is fast enough on the task, and would end it before the other group reached it.
bool SuperblockScheduler::worth_taking(TaskId task, GroupId from, GroupId by) const {
  if (!m_slower.is_fast(m_view->task(task), by)) return false;
  auto const workers = static_cast<std::int64_t>(m_view->topology().group(from).workers.size());
  auto const queued = static_cast<std::int64_t>(m_ready[from.index()].size() + m_view->committed(from).size());
  return m_view->kernel_time(task, by) <= m_view->kernel_time(task, from) * (1 + queued / workers);
}

void SuperblockScheduler::withdrawn(TaskId id, Withdrawal why, GroupId) {
  if (why == Withdrawal::Cancelled) leave_ready(m_view->task(id));
  forget(id);
}

void SuperblockScheduler::leave_ready(Task const& task) {
  if (m_pool.erase(task, m_slower.fast_groups(task)) || m_unowned.erase(task, task.allowed_groups)) return;
  DataId const data = BlockBuilder::written(task);
  m_ready[m_blocks.owner(data).index()].erase({m_blocks.block(data), task.id});
}

void SuperblockScheduler::forget(TaskId id) {
  give(id);
  m_blocks.ended(m_view->task(id));
}

void SuperblockScheduler::finished(TaskId id) { m_blocks.ended(m_view->task(id)); }

}  // namespace granary::detail