// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/heteroprio_spoliation.hpp>

#include <algorithm>
#include <cmath>

namespace granary::detail {

HeteroprioOptions SpoliatingHeteroprio::defaults(Rules rules) {
  HeteroprioOptions options;
  // TRSM's acceleration is 2.6 times smaller than GEMM's, and 4.8 times larger than POTRF's.
  options.merge = {1, rules == Rules::Sp ? 1.0 : 3.0};
  options.limit = 0;
  options.slow = HeteroprioOptions::Slow::LeastUrgent;
  return options;
}

void SpoliatingHeteroprio::attach(SystemView const& view, PlanBoard&) {
  m_view = &view;
  m_buckets.attach(view, 1);
  for (std::uint32_t g = 0; g < view.topology().groups().size(); ++g) {
    (view.topology().groups()[g].kind == WorkerKind::Cpu ? m_cpu_groups : m_devices).emplace_back(g);
  }
}

void SpoliatingHeteroprio::finished(TaskId task) {
  auto const found = std::ranges::find(m_stopped, task, &Stopped::task);
  if (found != m_stopped.end()) found->state = Stopped::State::Ended;
}

void SpoliatingHeteroprio::submitted(TaskId task) {
  auto const found = std::ranges::find(m_stopped, task, &Stopped::task);
  if (found != m_stopped.end()) found->state = Stopped::State::Back;
}

void SpoliatingHeteroprio::ready(TaskId task) {
  auto const found = std::ranges::find(m_stopped, task, &Stopped::task);
  if (found != m_stopped.end() && !found->preempted) {
    found->state = Stopped::State::Ready;
    return;
  }
  if (found != m_stopped.end()) m_stopped.erase(found);
  m_buckets.put(task, 0);
  classify();
}

void SpoliatingHeteroprio::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why == Withdrawal::InputEvicted) return;
  if (std::erase_if(m_stopped, [&](Stopped const& stopped) { return stopped.task == task; }) == 0)
    m_buckets.remove(task);
}

// A task that ended although it was to be stopped is not submitted again.
void SpoliatingHeteroprio::forget_ended() {
  std::erase_if(m_stopped, [](Stopped const& stopped) { return stopped.state == Stopped::State::Ended; });
}

void SpoliatingHeteroprio::classify() {
  if (m_classified == m_buckets.orderings()) return;
  m_classified = m_buckets.orderings();
  auto const count = static_cast<std::uint32_t>(m_buckets.names().size());
  std::vector<double> speeds(count);
  double highest = 0;
  for (std::uint32_t b = 0; b < count; ++b) {
    double const speed = acceleration(m_buckets.times(b));
    speeds[b] = std::isfinite(speed) ? speed : 0;
    highest = std::max(highest, speeds[b]);
  }
  m_slowness.assign(count, Slowness::No);
  m_slowest.reset();
  for (std::uint32_t b = 0; b < count; ++b) {
    if (speeds[b] <= 0 || speeds[b] >= highest / 2) continue;
    m_slowness[b] = Slowness::Half;
    if (!m_slowest || speeds[b] < speeds[*m_slowest]) m_slowest = b;
  }
  if (m_slowest) m_slowness[*m_slowest] = Slowness::Most;
}

SpoliatingHeteroprio::Slowness SpoliatingHeteroprio::slowness(TaskId task) const {
  auto const bucket = m_buckets.find(m_view->task(task).codelet);
  return bucket && *bucket < m_slowness.size() ? m_slowness[*bucket] : Slowness::No;
}

bool SpoliatingHeteroprio::exempt(TaskId task) const {
  auto const slow = slowness(task);
  return (m_rules == Rules::Pcep && slow == Slowness::Most) || (m_rules == Rules::Pcept && slow != Slowness::No);
}

// A worker for which a task is being stopped waits for that one.
bool SpoliatingHeteroprio::has_idle_worker(GroupId group) const {
  auto const waiting = std::ranges::count_if(
      m_stopped, [&](Stopped const& stopped) { return stopped.by == group && !stopped.preempted; });
  auto const workers = std::min(m_buckets.workers_of(group), m_view->topology().group(group).workers.size());
  return m_view->committed(group).size() + static_cast<std::size_t>(waiting) < workers;
}

bool SpoliatingHeteroprio::all_busy() const {
  auto const groups = static_cast<std::uint32_t>(m_view->topology().groups().size());
  for (std::uint32_t g = 0; g < groups; ++g) {
    if (has_idle_worker(GroupId(g))) return false;
  }
  return true;
}

TaskId SpoliatingHeteroprio::taken(TaskId task) {
  if (task.valid()) m_buckets.remove(task);
  return task;
}

TaskId SpoliatingHeteroprio::take_stopped(GroupId group) {
  auto const found = std::ranges::find_if(
      m_stopped, [&](Stopped const& stopped) { return stopped.by == group && stopped.state == Stopped::State::Ready; });
  if (found == m_stopped.end()) return {};
  TaskId const task = found->task;
  m_stopped.erase(found);
  return task;
}

TaskId SpoliatingHeteroprio::next(GroupId group) {
  forget_ended();
  if (TaskId const task = take_stopped(group); task.valid()) return task;
  if (!has_idle_worker(group) || !m_buckets.look_for(group)) return {};
  if (m_view->topology().group(group).kind == WorkerKind::Cpu) {
    // Idle devices choose first, whichever group is asked first: it is asked again when they have.
    if (std::ranges::any_of(m_devices, [&](GroupId device_group) { return chooses_now(device_group); })) return {};
    // Whatever the user's order: the worker may have been freed for it.
    auto const slowest = m_rules == Rules::Sp ? std::nullopt : m_slowest;
    TaskId const task = slowest ? m_buckets.first({*slowest}, 0, group, {}) : TaskId();
    return taken(task.valid() ? task : first_ready(group, {}));
  }
  return taken(choice_of(group));
}

// A group of which a task waits for its data or for room may not be asked at present.
bool SpoliatingHeteroprio::chooses_now(GroupId device_group) const {
  auto const has_worker = [&](TaskId task) { return m_view->assignment(task).phase == TaskPhase::Issued; };
  return has_idle_worker(device_group) && std::ranges::all_of(m_view->committed(device_group), has_worker) &&
         choice_of(device_group).valid();
}

TaskId SpoliatingHeteroprio::choice_of(GroupId device_group) const {
  TaskId const above = m_rules < Rules::Pc ? TaskId() : most_urgent_for(device_group, true);
  return first_ready(device_group, above.valid() ? std::optional(m_view->task(above).priority) : std::nullopt);
}

// The first task of at least this priority, in the group's order of the buckets.
TaskId SpoliatingHeteroprio::first_ready(GroupId group, std::optional<std::int64_t> at_least) const {
  for (auto const& level : m_buckets.levels(m_view->topology().group(group).kind)) {
    TaskId const task = m_buckets.first(level, 0, group, {});
    if (task.valid() && (!at_least || m_view->task(task).priority >= *at_least)) return task;
  }
  return {};
}

// The most urgent task on a CPU worker that the device would run faster; `constrain`: of those that the rule PC counts.
TaskId SpoliatingHeteroprio::most_urgent_for(GroupId device_group, bool constrain) const {
  TaskId best;
  for (GroupId const group : m_cpu_groups) {
    for (TaskId const id : m_view->committed(group)) {
      auto const& task = m_view->task(id);
      bool const better = !best.valid() || task.priority > m_view->task(best).priority;
      if (!better || !task.allowed_on(device_group) || !m_view->may_abort(id) || (constrain && exempt(id))) continue;
      if (m_view->kernel_time(id, device_group) < m_view->kernel_time(id, group)) best = id;
    }
  }
  return best;
}

// The least urgent of the tasks on all groups that would take one of the slow codelet, if this group has it.
TaskId SpoliatingHeteroprio::to_preempt(GroupId group) const {
  TaskId least;
  GroupId victim;
  for (GroupId const other : m_cpu_groups) {
    if (!m_buckets.would_take(*m_slowest, 0, other)) continue;
    for (TaskId const id : m_view->committed(other)) {
      bool const better = !least.valid() || m_view->task(id).priority < m_view->task(least).priority;
      if (!better || slowness(id) == Slowness::Most || !m_view->may_abort(id)) continue;
      least = id;
      victim = other;
    }
  }
  return victim == group ? least : TaskId();
}

TaskId SpoliatingHeteroprio::stop(TaskId task, GroupId by, bool preempt) {
  if (!task.valid()) return {};
  ++(preempt ? m_preemptions : m_spoliations);
  m_stopped.push_back({.task = task, .by = by, .preempted = preempt});
  return task;
}

TaskId SpoliatingHeteroprio::abort_for(GroupId group) {
  forget_ended();
  if (m_view->topology().group(group).kind == WorkerKind::Cpu) {
    bool const making_way = std::ranges::any_of(m_stopped, &Stopped::preempted);
    bool const waits =
        m_rules != Rules::Sp && m_slowest && m_buckets.look_for(group) && m_buckets.would_take(*m_slowest, 0, group);
    return waits && !making_way && all_busy() ? stop(to_preempt(group), group, true) : TaskId();
  }
  if (!has_idle_worker(group)) return {};
  // If tasks are ready, the rule PC kept them from the device.
  bool const constrained = first_ready(group, {}).valid();
  return stop(most_urgent_for(group, constrained), group, false);
}

std::vector<std::pair<std::string, double>> SpoliatingHeteroprio::counters() const {
  return {{"spoliations", static_cast<double>(m_spoliations)}, {"preemptions", static_cast<double>(m_preemptions)}};
}

}  // namespace granary::detail
