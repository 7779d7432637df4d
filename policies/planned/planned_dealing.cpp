// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/shortest_time.hpp>
#include <granary/detail/policies/planned/least_missing.hpp>
#include <granary/detail/policies/planned/planned_dealing.hpp>
#include <granary/detail/policies/superblock/block_builder.hpp>

#include <algorithm>
#include <array>

namespace granary::detail {
namespace {

// A node begins another block when fewer planned tasks are left to it.
constexpr std::size_t few_planned = 16;
// At the end, when no block is left to begin and fewer planned tasks are left to a group, it takes only so many ahead
// of its workers: other nodes may take over the rest.
constexpr std::size_t last_planned = 96;
constexpr std::size_t last_ahead = 1;
// A task is urgent if so many times the chain that begins with it takes as long as all that is left.
constexpr double urgent_chain = 1.5;
// The part of a block's bytes by which a node must hold more of it than of an earlier one.
constexpr double clearly_more = 0.1;
// The number of blocks that may be looked at for one that can begin.
constexpr int most_blocks = 64;

constexpr std::uint32_t no_block = PlannedTasks::no_block;

}  // namespace

// A block without tasks for the plan's nodes needs no owner.
void BlockDealing::link(std::vector<TaskId> const& tasks, FoundOrder const& order, OrderGraph const& graph) {
  m_has_plan = true;
  m_has_plane = order.has_plane;
  std::vector<std::uint32_t> block_of(tasks.size());
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    block_of[order.tasks[i]] = m_state.tasks.number_of(order.blocks[i]);
    m_state.tasks.make_block(order.blocks[i]).begun = true;
  }
  TaskLinks const links(graph);
  for (std::size_t i = tasks.size(); i-- > 0;) {
    auto const task = static_cast<std::uint32_t>(i);
    auto& entry = m_state.tasks[tasks[i]];
    auto const shortest = shortest_time(*m_state.view, tasks[i]);
    entry.chain = 0;
    for (auto const follower : links.followers(task)) {
      entry.chain = std::max(entry.chain, m_state.tasks.at(tasks[follower]).chain);
      auto& after = m_state.tasks.block(block_of[follower]).after;
      if (block_of[follower] != block_of[i] && (after.empty() || after.back() != block_of[i]))
        after.push_back(block_of[i]);
    }
    entry.chain += shortest.count();
    if (graph.elsewhere(task)) continue;
    m_state.tasks.set_seconds(tasks[i], seconds(shortest));
    m_state.tasks.block(block_of[i]).begun = false;
  }
  std::ranges::sort(block_of);
  block_of.erase(std::unique(block_of.begin(), block_of.end()), block_of.end());
  for (auto const number : block_of) {
    auto& after = m_state.tasks.block(number).after;
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
  }
}

void BlockDealing::deal(GroupId group) {
  bool const has_ready = m_ready.first_own(group).valid();
  if (has_ready && m_state.board->plan(group).size() >= few_planned) return;
  NodeId const node = m_state.node_of(group);
  auto number = block_for(node);
  // Its inputs are made by blocks that cannot begin either: by tasks of other kinds of workers, for example.
  bool const idle = !has_ready && m_state.view->committed(group).empty();
  if (number == no_block && idle && !m_state.tasks.to_begin().empty()) number = *m_state.tasks.to_begin().begin();
  if (number != no_block) begin_block(number, node);
}

// The first block that can begin or, where the plan has no rows and columns, the first one of whose data the node holds
// the most: a clearly larger part than of those before it.
std::uint32_t BlockDealing::block_for(NodeId node) {
  int looked_at = 0;
  auto best = no_block;
  double best_part = 0;
  for (auto const number : m_state.tasks.to_begin()) {
    if (looked_at++ == most_blocks) break;
    auto& block = m_state.tasks.block(number);
    if (!is_open(block)) continue;
    if (m_has_plane) return number;
    auto const part = part_held(block, node);
    if (best != no_block && part <= best_part + clearly_more) continue;
    best = number;
    best_part = part;
  }
  return best;
}

// Of the bytes of the block's data.
double BlockDealing::part_held(PlannedTasks::Block& block, NodeId node) const {
  if (block.data.empty()) {
    for (TaskId const task : block.tasks) {
      if (!m_state.tasks.contains(task)) continue;
      for (auto const& access : m_state.view->task(task).accesses) block.data.push_back(access.data);
    }
    std::ranges::sort(block.data);
    block.data.erase(std::unique(block.data.begin(), block.data.end()), block.data.end());
  }
  double held = 0;
  double all = 0;
  for (DataId const data : block.data) {
    auto const bytes = static_cast<double>(m_state.view->bytes(data));
    all += bytes;
    if (m_state.view->expected(data, node)) held += bytes;
  }
  return held / std::max(all, 1.0);
}

// True if all of its inputs have been made, or are made by blocks that have begun.
bool BlockDealing::is_open(PlannedTasks::Block& block) const {
  while (!block.after.empty()) {
    if (m_state.tasks.waits(block.after.back())) return false;
    block.after.pop_back();
  }
  return true;
}

bool BlockDealing::leaves_rest(GroupId group) const {
  return m_has_plan && m_state.tasks.without_plan() == 0 && m_state.tasks.unbegun() == 0 &&
         m_state.board->plan(group).size() < last_planned &&
         m_state.view->committed(group).size() >= m_state.view->topology().group(group).workers.size() + last_ahead;
}

TaskId BlockDealing::first_own(GroupId group) const {
  TaskId const urgent = m_ready.most_urgent(group);
  if (!urgent.valid()) return m_ready.first_own(group);
  double const left_ns = 1e9 * m_state.tasks.seconds_left() / static_cast<double>(m_state.workers);
  bool const goes_first = urgent_chain * static_cast<double>(m_state.tasks.at(urgent).chain) >= left_ns;
  return goes_first ? urgent : m_ready.first_own(group);
}

// Those tasks of the same block go to the node that write the same datum.
void BlockDealing::take_chain(TaskId task, NodeId node) {
  auto& tasks = m_state.tasks;
  auto const from = tasks.at(task).block;
  auto const written = [&](TaskId member) { return BlockBuilder::written(m_state.view->task(member)); };
  auto const data = written(task);
  auto chain = tasks.left_of(from);
  std::erase_if(chain, [&](TaskId other) { return other != task && written(other) != data; });
  auto const to = tasks.make_begun_block(chain, node);
  for (TaskId const member : chain) {
    m_ready.erase(member);
    m_state.board->remove(member);
    tasks.join(member, to);
    publish(member);
    m_ready.insert(member);
  }
  tasks.leave(from, chain.size());
}

TaskId BlockDealing::take_over(GroupId group) {
  std::size_t queued = 0;
  TaskId const last = m_ready.last_of_others(group, queued);
  if (!last.valid()) return {};
  auto const& view = *m_state.view;
  auto const& task = view.task(last);
  if (!task.allowed_on(group) || !m_state.slower.is_fast(task, group)) return {};
  auto const there = m_ready.groups_for(task);
  GroupId const from = *there.begin();
  auto const workers = static_cast<std::int64_t>(view.topology().group(from).workers.size());
  auto const ahead = static_cast<std::int64_t>(queued + view.committed(from).size());
  if (view.kernel_time(last, group) > view.kernel_time(last, from) * (1 + ahead / workers)) return {};
  if (m_state.groups.contains(group)) take_chain(last, m_state.node_of(group));
  return last;
}

void BlockDealing::begin_block(std::uint32_t number, NodeId owner) {
  auto const& block = m_state.tasks.block(number);
  if (block.begun) return;
  std::vector<TaskId> left;
  if (!block.owner.valid()) left = m_state.tasks.left_of(number);
  for (TaskId const task : left) m_ready.erase(task);
  m_state.tasks.begin(number, owner);
  for (TaskId const task : left) {
    publish(task);
    m_ready.insert(task);
  }
}

// The group of the owner that is meant to run it; invalid if that is none of the owner's.
GroupId BlockDealing::planned_group(TaskId id) const {
  auto const* const block = m_state.tasks.block_of(m_state.tasks.at(id));
  auto const own = m_state.view->task(id).allowed_groups & m_state.groups_on(block->owner);
  for (GroupId const group : own) {
    if (m_state.slower.fast_on_all(std::array{id}, group)) return group;
  }
  return {};
}

void BlockDealing::publish(TaskId id) {
  auto& entry = m_state.tasks[id];
  entry.plan = planned_group(id);
  if (entry.plan.valid()) m_state.board->insert(entry.plan, id, m_state.view->task(id).accesses, entry.rank);
  want_inputs(id);
}

void BlockDealing::want_inputs(TaskId task) {
  auto const& entry = m_state.tasks.at(task);
  if (!m_state.one_node() && entry.ready && entry.plan.valid()) m_state.board->want_inputs(task);
}

}  // namespace granary::detail
