// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects the tasks that idle workers run while the first of their tasks is not ready.
#include <granary/detail/policies/common/expected_inputs.hpp>
#include <granary/detail/policies/static/static.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace granary::detail {
namespace {

// Tasks that a decision looks at in order to know when a task will be ready.
constexpr int most_steps = 64;
// An own task may be ready this much earlier than what a worker runs instead ends. On Cholesky factorizations of 8 to
// 16 tiles, a factor of 1 is slower by up to 1 %; with 1.67, a schedule of other times can lose 10 %.
constexpr double most_delay = 1.25;
// A worker is slow if it takes this many times as long as another one of its kind.
constexpr double slow = 1.25;

}  // namespace

// The times on the slowest and on the fastest group.
void StaticScheduler::note_acceleration(Task const& task) {
  Duration shortest = Duration::max();
  Duration longest{0};
  for (GroupId const group : task.allowed_groups) {
    Duration const time = m_view->kernel_time(task.id, group);
    shortest = std::min(shortest, time);
    longest = std::max(longest, time);
  }
  if (task.codelet.index() >= m_accelerations.size()) m_accelerations.resize(task.codelet.index() + 1);
  auto& known = m_accelerations[task.codelet.index()];
  auto const acceleration = static_cast<double>(longest.count()) / static_cast<double>(shortest.count());
  if (acceleration <= known) return;
  known = acceleration;
  auto sorted = m_accelerations;
  std::ranges::sort(sorted, std::greater{});
  m_top = sorted[0];
  m_second = sorted.size() > 1 && sorted[1] > 0 ? sorted[1] : sorted[0];
}

// Of the codelet with the top acceleration, or of one of the top two, for the workers that are fastest on it.
bool StaticScheduler::worth_stealing(Task const& task, GroupId thief) const {
  double const least = m_options.repair == Repair::Top ? m_top : m_second;
  return m_accelerations[task.codelet.index()] >= least && is_fastest(task, thief);
}

bool StaticScheduler::is_fastest(Task const& task, GroupId on) const {
  Duration const here = m_view->kernel_time(task.id, on);
  return std::ranges::none_of(task.allowed_groups,
                              [&](GroupId group) { return m_view->kernel_time(task.id, group) < here; });
}

TaskId StaticScheduler::repair(GroupId group) {
  for (WorkerId const lane : m_view->topology().group(group).workers) {
    if (m_lanes[lane.index()].held > 0) continue;
    auto const task = m_options.repair == Repair::Auto ? steal_sooner(lane) : steal_alike(lane);
    if (task.valid()) return give(task, lane);
  }
  return {};
}

// SS+G and SS+GS: its own task of the highest priority, else the highest one of any other worker that does not take it
// at once.
TaskId StaticScheduler::steal_alike(WorkerId thief) const {
  GroupId const group = m_lanes[thief.index()].group;
  TaskId best;
  std::tuple<bool, std::int64_t, std::uint32_t> least{true, 0, nowhere};
  for (std::uint32_t w = 0; w < m_lanes.size(); ++w) {
    auto const& lane = m_lanes[w];
    auto const taken_now = takes_more(WorkerId(w)) ? head(lane) : nowhere;
    for (auto const place : lane.tasks.ready()) {
      auto const& task = m_view->task(m_tasks[place]);
      std::tuple const key{WorkerId(w) != thief, -task.priority, place};
      if (place == taken_now || (best.valid() && key >= least)) continue;
      if (!task.allowed_on(group) || !worth_stealing(task, group)) continue;
      least = key;
      best = task.id;
    }
  }
  return best;
}

// How much later than planned the lane begins what it has to do now, as far as that is known.
Duration StaticScheduler::lag(Lane const& lane) const {
  auto const first = lane.tasks.first();
  Duration const planned = first < m_plan->tasks() ? m_plan->start(first) : Duration{0};
  return m_view->now().time_since_epoch() + rest(lane) - planned;
}

// True if its worker has become slow, compared with another one of the kind that is less behind the plan.
bool StaticScheduler::is_late(Task const& task, Item const& item) const {
  if (item.place >= m_plan->tasks()) return false;
  double const pace = m_pace.of_worker(m_lanes[item.lane.index()].worker);
  Duration const here = m_view->now().time_since_epoch() + start_of(item.place, item.lane) - m_plan->start(item.place);
  Duration const much = scaled(expected(task, item.duration, item.lane), 2);
  if (here <= much) return false;
  auto const& machine = m_view->topology().machine();
  for (std::uint32_t w = 0; w < m_lanes.size(); ++w) {
    auto const& other = m_lanes[w];
    if (machine.workers[w].kind != machine[item.lane].kind || pace < slow * m_pace.of_worker(other.worker)) continue;
    if (other.tasks.empty() || here - lag(other) > much) return true;
  }
  return false;
}

// When all predecessors of the task will have ended: a lower bound, for which so many predecessors are looked at.
Duration StaticScheduler::ready_in(TaskId id, int& steps) const {
  Duration latest{0};
  for (TaskId const before : m_predecessors.of(id)) {
    if (!m_predecessors.live(before)) continue;
    if (--steps < 0) break;
    latest = std::max(latest, ends_in(before, steps));
  }
  return latest;
}

Duration StaticScheduler::ends_in(TaskId id, int& steps) const {
  auto const& item = m_items.at(id);
  if (!item.lane.valid()) return ready_in(id, steps);
  auto const& lane = m_lanes[item.lane.index()];
  if (item.given) return rest(lane);
  Duration start = start_of(item.place, item.lane);
  if (!lane.tasks.is_ready(item.place)) start = std::max(start, ready_in(id, steps));
  return start + expected(m_view->task(id), item.duration, item.lane);
}

// A task that ends here before its own worker would start it, and about when this worker's own next task is ready.
// A group that is slower on tasks takes first those on which it is least so, whatever their places.
TaskId StaticScheduler::steal_sooner(WorkerId thief) const {
  GroupId const group = m_lanes[thief.index()].group;
  NodeId const node = m_view->topology().group(group).node;
  auto const& own = m_lanes[thief.index()].tasks;
  int steps = most_steps;
  Duration const spare = own.empty() || !m_tasks[own.first()].valid()
                             ? longest_duration
                             : scaled(ready_in(m_tasks[own.first()], steps), most_delay);
  TaskId best;
  std::pair<double, std::uint32_t> least{std::numeric_limits<double>::infinity(), nowhere};
  for (std::uint32_t w = 0; w < m_lanes.size(); ++w) {
    auto const& lane = m_lanes[w];
    auto const taken_now = lane.held == 0 ? head(lane) : nowhere;
    for (auto const place : lane.tasks.ready()) {
      auto const& task = m_view->task(m_tasks[place]);
      if (place == taken_now || !task.allowed_on(group)) continue;
      std::pair const key{is_fastest(task, group) ? 0 : m_accelerations[task.codelet.index()], place};
      if (key >= least) continue;
      Duration const end =
          expected(task, duration(task, place, thief), thief) + input_transfers(*m_view, *m_board, task, node);
      if (end > spare || (WorkerId(w) != thief && end > start_of(place, WorkerId(w)))) continue;
      least = key;
      best = task.id;
    }
  }
  return best;
}

}  // namespace granary::detail
