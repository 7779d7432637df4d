// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How PlannedScheduler deals the blocks of its plan to several nodes.
#include <granary/detail/policies/common/shortest_time.hpp>
#include <granary/detail/policies/planned/least_missing.hpp>
#include <granary/detail/policies/planned/planned.hpp>
#include <granary/detail/policies/superblock/block_builder.hpp>

#include <algorithm>
#include <limits>
#include <utility>

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

}  // namespace

// Finds the order between blocks, and the chains of tasks. A block without tasks for the plan's nodes needs no owner.
void PlannedScheduler::link_blocks(std::vector<TaskId> const& tasks, FoundOrder const& order) {
  std::vector<std::uint32_t> block_of(tasks.size());
  for (std::size_t i = 0; i < order.tasks.size(); ++i) block_of[order.tasks[i]] = m_next_block + order.blocks[i];
  for (auto const number : block_of) m_blocks[number].begun = true;
  TaskLinks const links(m_graph);
  for (std::size_t i = tasks.size(); i-- > 0;) {
    auto const task = static_cast<std::uint32_t>(i);
    auto& entry = m_tasks[m_tasks.slot(tasks[i])];
    auto const shortest = shortest_time(*m_view, tasks[i]);
    entry.chain = 0;
    for (auto const follower : links.followers(task)) {
      entry.chain = std::max(entry.chain, m_tasks.at(tasks[follower]).chain);
      auto& after = m_blocks.at(block_of[follower]).after;
      if (block_of[follower] != block_of[i] && (after.empty() || after.back() != block_of[i]))
        after.push_back(block_of[i]);
    }
    entry.chain += shortest.count();
    if (m_graph.elsewhere(task)) continue;
    m_seconds_left += seconds(shortest) - std::exchange(entry.seconds, seconds(shortest));
    m_blocks.at(block_of[i]).begun = false;
  }
  std::ranges::sort(block_of);
  block_of.erase(std::unique(block_of.begin(), block_of.end()), block_of.end());
  for (auto const number : block_of) {
    auto& after = m_blocks.at(number).after;
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
  }
}

// A square block of so many lines needs two values for each line while it runs a task for each pair of them: with fewer
// lines its links would be slower than its workers.
double PlannedScheduler::least_side(std::vector<TaskId> const& tasks) const {
  auto const& topology = m_view->topology();
  auto const& machine = topology.machine();
  auto const host = std::ranges::find(machine.nodes, NodeKind::Host, &MemoryNode::kind);
  if (host == machine.nodes.end()) return 1;
  NodeId const from(static_cast<std::uint32_t>(host - machine.nodes.begin()));
  std::vector<double> sharing(machine.buses.size());  // nodes of the plan that load over the bus
  std::vector<LinkId> ways;
  for (GroupId const group : m_planned_groups) {
    auto const way = topology.next_hop(from, topology.group(group).node);
    if (!way.valid()) continue;
    ways.push_back(way);
    for (auto const bus : machine[way].buses) ++sharing[bus];
  }
  double slowest = std::numeric_limits<double>::max();
  for (LinkId const way : ways) {
    slowest = std::min(slowest, machine[way].bandwidth);
    for (auto const bus : machine[way].buses) slowest = std::min(slowest, machine.buses[bus].bandwidth / sharing[bus]);
  }
  double const working = kernel_seconds(tasks) / static_cast<double>(tasks.size());
  double const loading = static_cast<double>(m_mean_bytes) / slowest;
  return ways.empty() || working <= 0 ? 1 : 2 * loading / working;
}

// Begins a block for the group's node if it needs one. Data of the block are fetched while the last tasks of the ones
// before run.
void PlannedScheduler::deal(GroupId group) {
  bool const has_ready = m_own.first(group).valid();
  if (has_ready && m_board->plan(group).size() >= few_planned) return;
  auto number = block_for(m_view->topology().group(group).node);
  // Its inputs are made by blocks that cannot begin either: by tasks of other kinds of workers, for example.
  bool const idle = !has_ready && m_view->committed(group).empty();
  if (number == no_block && idle && !m_to_begin.empty()) number = *m_to_begin.begin();
  if (number != no_block) begin_block(number, m_view->topology().group(group).node);
}

// The first block that can begin or, where the plan has no rows and columns, the first one of whose data the node holds
// the most: a clearly larger part than of those before it.
std::uint32_t PlannedScheduler::block_for(NodeId node) {
  int looked_at = 0;
  auto best = no_block;
  double best_part = 0;
  for (auto const number : m_to_begin) {
    if (looked_at++ == most_blocks) break;
    auto& block = m_blocks.at(number);
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
double PlannedScheduler::part_held(Block& block, NodeId node) const {
  if (block.data.empty()) {
    for (TaskId const task : block.tasks) {
      if (!m_tasks.contains(task)) continue;
      for (auto const& access : m_view->task(task).accesses) block.data.push_back(access.data);
    }
    std::ranges::sort(block.data);
    block.data.erase(std::unique(block.data.begin(), block.data.end()), block.data.end());
  }
  double held = 0;
  double all = 0;
  for (DataId const data : block.data) {
    auto const bytes = static_cast<double>(m_view->bytes(data));
    all += bytes;
    if (m_view->expected(data, node)) held += bytes;
  }
  return held / std::max(all, 1.0);
}

// True if all of its inputs have been made, or are made by blocks that have begun.
bool PlannedScheduler::is_open(Block& block) const {
  while (!block.after.empty()) {
    auto const before = m_blocks.find(block.after.back());
    if (before != m_blocks.end() && !before->second.begun) return false;
    block.after.pop_back();
  }
  return true;
}

void PlannedScheduler::count_ready(std::uint32_t number, bool more) {
  auto& block = m_blocks.at(number);
  block.ready += more ? 1 : std::size_t(-1);
  if (block.begun) return;
  if (block.ready == 0) m_to_begin.erase(number);
  if (block.ready == 1 && more) m_to_begin.insert(number);
}

// True if the group leaves the rest of its tasks to nodes that could take them over.
bool PlannedScheduler::leaves_rest(GroupId group) const {
  return m_plans > 0 && m_new == 0 && m_unbegun == 0 && m_board->plan(group).size() < last_planned &&
         m_view->committed(group).size() >= m_view->topology().group(group).workers.size() + last_ahead;
}

// The ready task of the group's blocks that is first in the plan, unless a task is urgent.
TaskId PlannedScheduler::first_own(GroupId group) const {
  TaskId const urgent = m_urgent.first(group);
  if (!urgent.valid()) return m_own.first(group);
  double const left_ns = 1e9 * m_seconds_left / static_cast<double>(m_planned_workers);
  bool const goes_first = urgent_chain * static_cast<double>(m_tasks.at(urgent).chain) >= left_ns;
  return goes_first ? urgent : m_own.first(group);
}

// Those tasks of the same block go to the node that write the same datum.
void PlannedScheduler::take_chain(TaskId task, NodeId node) {
  auto const from = m_tasks.at(task).block;
  auto const to = m_next_block++;
  auto const written = [&](TaskId member) { return BlockBuilder::written(m_view->task(member)); };
  auto const data = written(task);
  auto chain = left_of(from);
  std::erase_if(chain, [&](TaskId other) { return other != task && written(other) != data; });
  m_blocks[to] = {.owner = node, .begun = true, .tasks = chain, .left = chain.size()};
  for (TaskId const member : chain) {
    erase_ready(member);
    m_board->remove(member);
    m_tasks[m_tasks.slot(member)].block = to;
    publish(member);
    insert_ready(member);
  }
  auto const old = m_blocks.find(from);
  old->second.left -= chain.size();
  if (old->second.left == 0) m_blocks.erase(old);
}

// The inputs of a ready task that is in a plan may be fetched before a group gets it.
void PlannedScheduler::want_inputs(TaskId task) {
  auto const& entry = m_tasks.at(task);
  if (m_nodes > 1 && entry.ready && entry.plan.valid()) m_board->want_inputs(task);
}

}  // namespace granary::detail
