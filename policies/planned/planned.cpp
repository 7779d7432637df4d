// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/common/bursts.hpp>
#include <granary/detail/policies/planned/plan_order.hpp>
#include <granary/detail/policies/planned/plan_state.hpp>
#include <granary/detail/policies/planned/planned_dealing.hpp>
#include <granary/detail/policies/planned/planned_ready.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

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
class PlannedScheduler final : public Scheduler, public SystemEvents, public SchedulerLimits {
 public:
  explicit PlannedScheduler(PlanOrder::Options const& options)
      : m_ready(m_state), m_dealing(m_state, m_ready), m_order(m_state, options) {}

  void attach(SystemView const& view, PlanBoard& board) override { m_state.attach(view, board); }
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal, GroupId) override { forget(task); }
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
  [[nodiscard]] bool due() const;
  void plan();
  [[nodiscard]] std::vector<TaskId> take_pending();
  [[nodiscard]] bool has_work(GroupId group) const;
  [[nodiscard]] bool too_early(TaskId task, GroupId group) const;
  TaskId give_in_turn(TaskId task);
  TaskId give(TaskId task);
  void forget(TaskId task);

  PlanState m_state;
  PlannedReady m_ready;
  BlockDealing m_dealing;
  PlanOrder m_order;
  std::vector<TaskId> m_pending;  // new tasks, and planned ones whose block may have begun, or that were given
  Bursts m_bursts;                // of submissions
  std::uint64_t m_plans = 0;
  double m_expected = 0;
};

SchedulerRegistration const planned_registration(
    "planned",
    [](PolicyOptions& options) {
      PlanOrder::Options chosen;
      chosen.effort = static_cast<std::uint64_t>(options.integer("effort", 1500, 0, 1'000'000'000));
      chosen.ahead = options.integer("ahead", -1, -1, 1'000'000);
      return std::make_unique<PlannedScheduler>(chosen);
    },
    {.eviction = "belady",
     .in_auto = {.place_if_data_fit = 2, .place_if_larger = 1, .start = SchedulerEntry::AutoUse::Start::OnOneMemory}});

// Fewer new tasks are not worth a plan.
constexpr std::size_t few_tasks = 16;
// A task waits if more than this many times the tasks ahead are left before it in the plan.
constexpr std::uint64_t lead_of_plan = 3;

void PlannedScheduler::submitted(TaskId task) {
  m_state.tasks.add(task);
  m_pending.push_back(task);
  m_bursts.submitted();
}

void PlannedScheduler::ready(TaskId task) {
  m_state.slower.ready(m_state.view->task(task));
  m_state.tasks[task].ready = true;
  m_ready.insert(task);
  m_dealing.want_inputs(task);
}

void PlannedScheduler::finished(TaskId task) {
  m_bursts.finished();
  m_ready.end_turn(task);
}

bool PlannedScheduler::due() const {
  return m_state.tasks.without_plan() >= few_tasks && m_state.tasks.without_plan() >= m_state.tasks.unbegun();
}

TaskId PlannedScheduler::next(GroupId group) {
  // While more come, and soon, a plan of all of them is better.
  bool const more_come = m_bursts.more_come();
  if (more_come && has_work(group)) return {};
  if (!more_come && due()) plan();
  if (!m_state.one_node() && m_state.groups.contains(group)) {
    m_dealing.deal(group);
    if (m_dealing.leaves_rest(group)) return {};
  }
  TaskId const own = m_dealing.first_own(group);
  bool const waits = own.valid() && too_early(own, group);
  if (own.valid() && !waits) return give_in_turn(own);
  TaskId const other = m_ready.first_other(group);
  if (!other.valid()) {
    if (waits) return {};
    TaskId const taken = m_dealing.take_over(group);
    TaskId const found = taken.valid() ? taken : m_state.slower.best_for(group);
    return found.valid() ? give_in_turn(found) : found;
  }
  return give_in_turn(other);
}

bool PlannedScheduler::has_work(GroupId group) const {
  return m_state.view->committed(group).size() >= m_state.view->topology().group(group).workers.size();
}

// True if the task can wait: the group's workers have work, and tasks are left that the plan has much earlier, whose
// data the task's data would displace.
bool PlannedScheduler::too_early(TaskId task, GroupId group) const {
  if (m_order.fits() || !m_state.one_node() || !has_work(group)) return false;
  auto const plan = m_state.tasks.at(task).plan;
  if (!plan.valid()) return false;
  auto const position = m_state.board->position(task);
  std::uint64_t earlier = 0;
  for (auto const& [other, _] : m_state.board->plan(plan)) {
    if (other == position) return false;
    if (++earlier > lead_of_plan * m_order.ahead_of(m_state.memory)) return true;
  }
  return false;
}

bool PlannedScheduler::hand_over(TaskId task, GroupId group) {
  auto const* const block = m_state.tasks.block_of(m_state.tasks.at(task));
  if (block != nullptr && block->owner != m_state.node_of(group)) return false;
  give(task);
  return true;
}

TaskId PlannedScheduler::give_in_turn(TaskId task) { return m_ready.take_turn(task) ? give(task) : TaskId{}; }

TaskId PlannedScheduler::give(TaskId task) {
  auto const block = m_state.tasks.at(task).block;
  if (block != PlannedTasks::no_block && m_state.one_node()) m_dealing.begin_block(block, m_state.only_node);
  forget(task);
  return task;
}

void PlannedScheduler::forget(TaskId task) {
  m_state.board->remove(task);
  m_ready.erase(task);
  m_state.slower.leave(m_state.view->task(task));
  m_state.tasks.remove(task);
}

void PlannedScheduler::plan() {
  auto const tasks = take_pending();
  auto const order = m_order.find(tasks);
  if (!m_state.one_node()) m_dealing.link(tasks, order, m_order.graph());
  m_order.drop_graph();
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    TaskId const task = tasks[order.tasks[i]];
    m_state.tasks.add_to_block(task, order.blocks[i], m_state.only_node);
    if (m_state.one_node()) m_dealing.publish(task);
    m_ready.insert(task);
  }
  m_state.tasks.end_plan(order.blocks);
  m_pending = tasks;
  ++m_plans;
  m_expected = static_cast<double>(order.traffic.all());
}

// The tasks to plan, in the order of submission, without plan.
std::vector<TaskId> PlannedScheduler::take_pending() {
  std::vector<TaskId> tasks;
  std::ranges::sort(m_pending);
  m_pending.erase(std::unique(m_pending.begin(), m_pending.end()), m_pending.end());
  for (TaskId const task : m_pending) {
    if (!m_state.tasks.contains(task)) continue;
    auto const* const block = m_state.tasks.block_of(m_state.tasks.at(task));
    if (block != nullptr && block->begun) continue;
    m_ready.erase(task);
    m_state.board->remove(task);
    tasks.push_back(task);
  }
  m_state.tasks.unplan(tasks);
  return tasks;
}

std::uint32_t PlannedScheduler::most_ahead(GroupId group, std::uint32_t depth) const {
  if (m_order.fits() || !m_state.one_node()) return depth;
  auto const& node = m_state.view->topology().machine()[m_state.node_of(group)];
  return std::max(depth, static_cast<std::uint32_t>(m_order.ahead_of(node.capacity)));
}

std::vector<std::pair<std::string, double>> PlannedScheduler::counters() const {
  return {{"plans", static_cast<double>(m_plans)},
          {"planned blocks", static_cast<double>(m_state.tasks.blocks_made())},
          {"expected bytes of the last plan", m_expected}};
}

}  // namespace
}  // namespace granary::detail
