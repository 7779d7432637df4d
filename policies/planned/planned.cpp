// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/planned/planned.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace granary::detail {
namespace {

SchedulerRegistration const planned_registration(
    "planned",
    [](PolicyOptions& options) {
      PlannedScheduler::Options chosen;
      chosen.effort = static_cast<std::uint64_t>(options.integer("effort", 1500, 0, 1'000'000'000));
      chosen.ahead = options.integer("ahead", -1, -1, 1'000'000);
      return std::make_unique<PlannedScheduler>(chosen);
    },
    {.eviction = "belady",
     .in_auto = {.place_if_data_fit = 2, .place_if_larger = 1, .start = SchedulerEntry::AutoUse::Start::OnOneMemory}});

// New tasks run in the order of submission, after all planned ones.
std::int64_t rank_of_new(TaskId task) {
  return (std::int64_t{1} << 62U) + static_cast<std::int64_t>(task.value() & ((std::uint64_t{1} << 61U) - 1));
}

// Fewer new tasks are not worth a plan.
constexpr std::size_t few_tasks = 16;
// The part of the memory for tasks that are fetched ahead.
constexpr Bytes ahead_part = 5;
// Those where the transfers take longer than the tasks: more of them cannot make them faster.
constexpr std::uint64_t ahead_of_slow_links = 6;
// Those where a datum is loaded while a task runs: even a new block keeps up with its workers.
constexpr std::uint64_t ahead_of_fast_links = 3;
// A task waits if more than this many times the tasks ahead are left before it in the plan.
constexpr std::uint64_t lead_of_plan = 3;

}  // namespace

void PlannedScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_slower.attach(view);
  auto const& topology = view.topology();
  auto const& nodes = topology.machine().nodes;
  auto const has_workers = [&](std::size_t n) {
    return !topology.groups_on(NodeId(static_cast<std::uint32_t>(n))).empty();
  };
  bool devices = false;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    devices = devices || (has_workers(n) && nodes[n].kind == NodeKind::Device);
  m_memory = std::numeric_limits<Bytes>::max();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!has_workers(n) || (devices && nodes[n].kind != NodeKind::Device)) continue;
    NodeId const node(static_cast<std::uint32_t>(n));
    m_only_node = m_nodes++ == 0 ? node : NodeId{};
    for (GroupId const group : topology.groups_on(node)) {
      m_planned_groups.insert(group);
      m_planned_workers += topology.group(group).workers.size();
    }
    m_memory = std::min(m_memory, nodes[n].capacity);
  }
}

void PlannedScheduler::submitted(TaskId task) {
  m_tasks.insert(task, {.rank = rank_of_new(task), .plan = {}});
  m_pending.push_back(task);
  ++m_new;
  m_bursts.submitted();
}

void PlannedScheduler::ready(TaskId task) {
  m_slower.ready(m_view->task(task));
  m_tasks[m_tasks.slot(task)].ready = true;
  insert_ready(task);
  want_inputs(task);
}

bool PlannedScheduler::due() const { return m_new >= few_tasks && m_new >= m_unbegun; }

TaskId PlannedScheduler::next(GroupId group) {
  // While more come, and soon, a plan of all of them is better.
  bool const more_come = m_bursts.more_come();
  if (more_come && has_work(group)) return {};
  if (!more_come && due()) plan();
  if (m_nodes > 1 && m_planned_groups.contains(group)) {
    deal(group);
    if (leaves_rest(group)) return {};
  }
  TaskId const own = first_own(group);
  bool const waits = own.valid() && too_early(own, group);
  if (own.valid() && !waits) return give_in_turn(own);
  TaskId const other = m_others.first(group);
  if (!other.valid()) {
    if (waits) return {};
    TaskId const taken = take_over(group);
    TaskId const found = taken.valid() ? taken : m_slower.best_for(group);
    return found.valid() ? give_in_turn(found) : found;
  }
  return give_in_turn(other);
}

bool PlannedScheduler::has_work(GroupId group) const {
  return m_view->committed(group).size() >= m_view->topology().group(group).workers.size();
}

// True if the task can wait: the group's workers have work, and tasks are left that the plan has much earlier, whose
// data the task's data would displace.
bool PlannedScheduler::too_early(TaskId task, GroupId group) const {
  if (m_fits || m_nodes > 1 || !has_work(group)) return false;
  auto const plan = m_tasks.at(task).plan;
  if (!plan.valid()) return false;
  auto const position = m_board->position(task);
  std::uint64_t earlier = 0;
  for (auto const& [other, _] : m_board->plan(plan)) {
    if (other == position) return false;
    if (++earlier > lead_of_plan * ahead_of(m_memory)) return true;
  }
  return false;
}

// A ready task of another node's block that would end here before it began there.
TaskId PlannedScheduler::take_over(GroupId group) {
  std::size_t queued = 0;
  TaskId const last = m_own.last_of_others(group, queued);
  if (!last.valid()) return {};
  auto const& task = m_view->task(last);
  if (!task.allowed_on(group) || !m_slower.is_fast(task, group)) return {};
  auto const there = groups_for(task, block_of(m_tasks.at(last)));
  GroupId const from = *there.begin();
  auto const workers = static_cast<std::int64_t>(m_view->topology().group(from).workers.size());
  auto const ahead = static_cast<std::int64_t>(queued + m_view->committed(from).size());
  if (m_view->kernel_time(last, group) > m_view->kernel_time(last, from) * (1 + ahead / workers)) return {};
  if (m_planned_groups.contains(group)) take_chain(last, m_view->topology().group(group).node);
  return last;
}

bool PlannedScheduler::hand_over(TaskId task, GroupId group) {
  auto const* const block = block_of(m_tasks.at(task));
  if (block != nullptr && block->owner != m_view->topology().group(group).node) return false;
  give(task);
  return true;
}

TaskId PlannedScheduler::give(TaskId task) {
  if (auto const block = m_tasks.at(task).block; block != no_block && m_nodes == 1) begin_block(block, m_only_node);
  forget(task);
  return task;
}

void PlannedScheduler::withdrawn(TaskId task, Withdrawal, GroupId) { forget(task); }

void PlannedScheduler::forget(TaskId task) {
  m_board->remove(task);
  erase_ready(task);
  m_slower.leave(m_view->task(task));
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

// The tasks of the block that no group has.
std::vector<TaskId> PlannedScheduler::left_of(std::uint32_t number) const {
  std::vector<TaskId> left;
  std::ranges::copy_if(m_blocks.at(number).tasks, std::back_inserter(left),
                       [&](TaskId task) { return m_tasks.contains(task) && m_tasks.at(task).block == number; });
  return left;
}

// The block is not planned again. If it had no owner, its tasks go to the node.
void PlannedScheduler::begin_block(std::uint32_t number, NodeId owner) {
  auto& block = m_blocks.at(number);
  if (block.begun) return;
  m_unbegun -= block.left;
  std::vector<TaskId> left;
  if (!block.owner.valid()) left = left_of(number);
  for (TaskId const task : left) erase_ready(task);
  block.owner = owner;
  block.begun = true;
  for (TaskId const task : left) {
    publish(task);
    insert_ready(task);
  }
}

PlannedScheduler::Block const* PlannedScheduler::block_of(Entry const& entry) const {
  return entry.block == no_block ? nullptr : &m_blocks.at(entry.block);
}

GroupSet PlannedScheduler::groups_on(NodeId node) const {
  GroupSet groups;
  for (GroupId const group : m_view->topology().groups_on(node)) groups.insert(group);
  return groups;
}

void PlannedScheduler::plan() {
  auto const tasks = take_pending();
  m_graph = graph_of(tasks);
  m_mean_bytes = std::max<Bytes>(1, m_data_bytes / std::max<Bytes>(1, m_graph.data()));
  m_fits = m_data_bytes <= m_memory;
  auto const order = m_nodes == 1 && !m_fits ? order_by_speed(tasks) : order_of(tasks);
  m_has_plane = order.has_plane;
  if (m_nodes > 1) link_blocks(tasks, order);
  m_graph = {};
  publish(tasks, order);
  m_pending = tasks;
  m_new = 0;
  ++m_plans;
  m_expected = static_cast<double>(order.traffic.all());
}

// The tasks to plan, in the order of submission, without plan.
std::vector<TaskId> PlannedScheduler::take_pending() {
  std::vector<TaskId> tasks;
  std::ranges::sort(m_pending);
  m_pending.erase(std::unique(m_pending.begin(), m_pending.end()), m_pending.end());
  for (TaskId const task : m_pending) {
    if (!m_tasks.contains(task)) continue;
    auto const number = m_tasks.at(task).block;
    if (number != no_block && m_blocks.at(number).begun) continue;
    erase_ready(task);
    m_board->remove(task);
    tasks.push_back(task);
  }
  for (TaskId const task : tasks) {
    auto& entry = m_tasks[m_tasks.slot(task)];
    entry.plan = {};
    if (auto const number = std::exchange(entry.block, no_block); number != no_block) m_blocks.erase(number);
  }
  m_unbegun = 0;
  return tasks;
}

// True if nodes outside the plan run the task: it may not, or should not, run on the plan's nodes.
bool PlannedScheduler::elsewhere(TaskId task) const {
  return std::ranges::none_of(m_view->task(task).allowed_groups & m_planned_groups,
                              [&](GroupId group) { return m_slower.fast_on_all(std::array{task}, group); });
}

OrderGraph PlannedScheduler::graph_of(std::vector<TaskId> const& tasks) {
  OrderGraph graph;
  std::unordered_map<DataId, std::uint32_t> numbers;
  m_data_bytes = 0;
  double loaded = 0;
  std::chrono::duration<double> loading{0};
  for (TaskId const task : tasks) {
    for (auto const& access : m_view->task(task).accesses) {
      if (access.repeated) continue;
      auto const [known, is_new] = numbers.try_emplace(access.data, graph.data());
      if (is_new) {
        auto const bytes = m_view->bytes(access.data);
        graph.add_data({.bytes = bytes,
                        .resident = m_only_node.valid() && m_view->expected(access.data, m_only_node),
                        .temporary = m_view->temporary(access.data)});
        m_data_bytes += bytes;
        auto const time = m_only_node.valid() ? m_view->transfer_time(access.data, m_only_node) : Duration{0};
        if (time > Duration{0}) {
          loaded += static_cast<double>(bytes);
          loading += time;
        }
      }
      graph.add_use({.data = known->second,
                     .reads = reads(access.mode),
                     .writes = writes(access.mode),
                     .commutes = commutes(access.mode)});
    }
    graph.end_task(elsewhere(task));
  }
  if (loaded > 0) m_seconds_per_byte = loading.count() / loaded;
  return graph;
}

// The order, and how many tasks are fetched ahead, for these tasks and the link to their memory.
FoundOrder PlannedScheduler::order_by_speed(std::vector<TaskId> const& tasks) {
  double const seconds = kernel_seconds(tasks);
  double const load = static_cast<double>(m_mean_bytes) * m_seconds_per_byte;
  bool const fast_link = load > 0 && load * static_cast<double>(tasks.size()) <= seconds;
  m_most_ahead = fast_link ? ahead_of_fast_links : most_ahead_by_memory;
  auto order = order_of(tasks);
  auto const moved = static_cast<double>(std::max(order.traffic.loaded, order.traffic.written));
  if (fast_link || moved * m_seconds_per_byte <= seconds) return order;
  auto const ahead = ahead_of(m_memory);
  m_most_ahead = ahead_of_slow_links;
  if (ahead_of(m_memory) == ahead) return order;
  auto closer = order_of(tasks);
  return closer.traffic.all() < order.traffic.all() ? closer : order;
}

// The time of the tasks of the plan's nodes, if all workers of those groups that are fast on them are at work.
double PlannedScheduler::kernel_seconds(std::vector<TaskId> const& tasks) const {
  std::chrono::duration<double> time{0};
  for (TaskId const id : tasks) {
    auto const& task = m_view->task(id);
    for (GroupId const group : m_slower.fast_groups(task)) {
      if (!m_planned_groups.contains(group)) continue;
      time += m_view->kernel_time(id, group) / m_view->topology().group(group).workers.size();
      break;
    }
  }
  return time.count();
}

FoundOrder PlannedScheduler::order_of(std::vector<TaskId> const& tasks) const {
  if (m_fits && m_nodes == 1) {
    FoundOrder order;
    order.tasks.resize(tasks.size());
    std::iota(order.tasks.begin(), order.tasks.end(), 0U);
    std::ranges::stable_sort(order.tasks, [&](std::uint32_t a, std::uint32_t b) {
      return m_view->task(tasks[a]).priority > m_view->task(tasks[b]).priority;
    });
    order.blocks.resize(tasks.size(), 0);
    return order;
  }
  if (m_nodes > 1)
    return find_order(m_graph, {.memory = m_memory,
                                .memories = m_nodes,
                                .least_side = m_fits ? 1 : least_side(tasks),
                                .effort = m_options.effort});
  Bytes largest = 0;
  for (std::uint32_t data = 0; data < m_graph.data(); ++data) largest = std::max(largest, m_graph.bytes(data));
  auto const memory = m_memory - std::min(m_memory / 2, std::max(ahead_of(m_memory) * m_mean_bytes, largest));
  return find_order(m_graph, {.memory = memory, .effort = m_options.effort});
}

void PlannedScheduler::publish(std::vector<TaskId> const& tasks, FoundOrder const& order) {
  auto const first_block = m_next_block;
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    TaskId const task = tasks[order.tasks[i]];
    auto const number = first_block + order.blocks[i];
    auto& block = m_blocks[number];
    if (m_nodes == 1) block.owner = m_only_node;
    block.tasks.push_back(task);
    ++block.left;
    auto& entry = m_tasks[m_tasks.slot(task)];
    entry.rank = m_next_rank++;
    entry.block = number;
    if (m_nodes == 1) publish(task);
    insert_ready(task);
  }
  if (!order.blocks.empty()) m_next_block += order.blocks.back() + 1;
  for (std::size_t i = 0; i < order.blocks.size(); ++i) {
    if (!m_blocks.at(first_block + order.blocks[i]).begun) ++m_unbegun;
  }
}

// The group of the owner that is meant to run it; invalid if that is none of the owner's.
GroupId PlannedScheduler::planned_group(TaskId id) const {
  auto const own = m_view->task(id).allowed_groups & groups_on(m_blocks.at(m_tasks.at(id).block).owner);
  for (GroupId const group : own) {
    if (m_slower.fast_on_all(std::array{id}, group)) return group;
  }
  return {};
}

void PlannedScheduler::publish(TaskId id) {
  auto& entry = m_tasks[m_tasks.slot(id)];
  entry.plan = planned_group(id);
  if (entry.plan.valid()) m_board->insert(entry.plan, id, m_view->task(id).accesses, entry.rank);
  want_inputs(id);
}

std::uint32_t PlannedScheduler::most_ahead(GroupId group, std::uint32_t depth) const {
  if (m_fits || m_nodes > 1) return depth;
  auto const& node = m_view->topology().machine()[m_view->topology().group(group).node];
  return std::max(depth, static_cast<std::uint32_t>(ahead_of(node.capacity)));
}

// The number of tasks for which a memory of this size has data ahead.
std::uint64_t PlannedScheduler::ahead_of(Bytes memory) const {
  if (m_options.ahead >= 0) return static_cast<std::uint64_t>(m_options.ahead);
  return std::min(m_most_ahead, memory / ahead_part / m_mean_bytes);
}

std::vector<std::pair<std::string, double>> PlannedScheduler::counters() const {
  return {{"plans", static_cast<double>(m_plans)},
          {"planned blocks", static_cast<double>(m_next_block)},
          {"expected bytes of the last plan", m_expected}};
}

}  // namespace granary::detail
