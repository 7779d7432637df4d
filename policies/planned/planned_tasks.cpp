// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/planned_tasks.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace granary::detail {
namespace {

// New tasks run in the order of submission, after all planned ones.
std::int64_t rank_of_new(TaskId task) {
  return (std::int64_t{1} << 62U) + static_cast<std::int64_t>(task.value() & ((std::uint64_t{1} << 61U) - 1));
}

}  // namespace

void PlannedTasks::add(TaskId task) {
  m_tasks.insert(task, {.rank = rank_of_new(task), .plan = {}});
  ++m_new;
}

void PlannedTasks::remove(TaskId task) {
  auto const entry = m_tasks.take(task);
  m_seconds_left -= entry.seconds;
  if (entry.block == no_block) {
    --m_new;
    return;
  }
  auto const block = m_blocks.find(entry.block);
  if (!block->second.begun) --m_unbegun;
  if (--block->second.left == 0) m_blocks.erase(block);
}

PlannedTasks::Block const* PlannedTasks::block_of(Entry const& entry) const {
  return entry.block == no_block ? nullptr : &m_blocks.at(entry.block);
}

bool PlannedTasks::waits(std::uint32_t number) const {
  auto const block = m_blocks.find(number);
  return block != m_blocks.end() && !block->second.begun;
}

std::vector<TaskId> PlannedTasks::left_of(std::uint32_t number) const {
  std::vector<TaskId> left;
  std::ranges::copy_if(m_blocks.at(number).tasks, std::back_inserter(left),
                       [&](TaskId task) { return m_tasks.contains(task) && m_tasks.at(task).block == number; });
  return left;
}

void PlannedTasks::unplan(std::vector<TaskId> const& tasks) {
  for (TaskId const task : tasks) {
    auto& entry = (*this)[task];
    entry.plan = {};
    if (auto const number = std::exchange(entry.block, no_block); number != no_block) m_blocks.erase(number);
  }
  m_unbegun = 0;
}

void PlannedTasks::add_to_block(TaskId task, std::uint32_t in_plan, NodeId owner) {
  auto const number = number_of(in_plan);
  auto& block = m_blocks[number];
  if (owner.valid()) block.owner = owner;
  block.tasks.push_back(task);
  ++block.left;
  auto& entry = (*this)[task];
  entry.rank = m_next_rank++;
  entry.block = number;
}

void PlannedTasks::end_plan(std::vector<std::uint32_t> const& blocks) {
  for (auto const in_plan : blocks) {
    if (!m_blocks.at(number_of(in_plan)).begun) ++m_unbegun;
  }
  if (!blocks.empty()) m_blocks_made += blocks.back() + 1;
  m_new = 0;
}

void PlannedTasks::begin(std::uint32_t number, NodeId owner) {
  auto& block = m_blocks.at(number);
  m_unbegun -= block.left;
  block.owner = owner;
  block.begun = true;
}

std::uint32_t PlannedTasks::make_begun_block(std::vector<TaskId> const& tasks, NodeId owner) {
  auto const number = m_blocks_made++;
  m_blocks[number] = {.owner = owner, .begun = true, .tasks = tasks, .left = tasks.size()};
  return number;
}

void PlannedTasks::leave(std::uint32_t number, std::size_t tasks) {
  auto const block = m_blocks.find(number);
  block->second.left -= tasks;
  if (block->second.left == 0) m_blocks.erase(block);
}

void PlannedTasks::count_ready(std::uint32_t number, bool more) {
  auto& block = m_blocks.at(number);
  block.ready += more ? 1 : std::size_t(-1);
  if (block.begun) return;
  if (block.ready == 0) m_to_begin.erase(number);
  if (block.ready == 1 && more) m_to_begin.insert(number);
}

void PlannedTasks::set_seconds(TaskId task, double seconds) {
  m_seconds_left += seconds - std::exchange((*this)[task].seconds, seconds);
}

}  // namespace granary::detail
