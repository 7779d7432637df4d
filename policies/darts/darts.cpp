// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/darts/darts_index.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
#include <vector>

namespace granary::detail {
namespace {

/// DARTS (Gonthier, Thibault, Marchal: Algorithm 3 and sections 5.3, 5.4). When a group has no planned task left, it
/// finds the datum that, once loaded, frees the most computation per time to load it, and plans all the tasks that it
/// frees.
///
/// Data are compared by transfer_duration / computation_time, |S0|, max_prio, |S1|, task_left and finally by the lowest
/// id, so that the choice is deterministic. S0(D_opt) is planned by priority, then in the order of submission. Workers
/// of one kind on one node share a plan (section 7.3).
///
/// Departures from the paper: (1) Tasks that became free without a chosen D_opt (section 5.1: a unit is assigned all
/// the free tasks), because of a transfer for another task or a withdrawal, are planned before a datum is searched for.
/// (2) A group that finds no ready task takes one from the end of the longest plan, so that no group idles while
/// another has a queue; unless moving its inputs takes longer than what the other group does before it. (3) If kinds of
/// workers differ, Algorithm 3 plans a task only for groups that are nearly as fast on it as the fastest (the paper
/// assumes equal units); for slower ones see SlowerGroups.
///
/// A decision costs O(log ready tasks) amortised over the tasks that a load frees, plus O(readers) of the datum.
class DartsScheduler final : public Scheduler, public SystemEvents {
 public:
  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  /// A task that will be free there (section 5.1) once its predecessor has ended, if the group is fast on it.
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override {
    return m_slower.is_fast(m_view->task(task), group);
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void replica_expected(DataId data, NodeId node) override;
  void replica_valid(DataId data, NodeId node) override;
  void replica_dropped(DataId data, NodeId node) override;

 private:
  void forget(Task const& task);
  void refresh_inputs(Task const& task, GroupId group);
  void refresh_on(DataId data, NodeId node);
  void plan(TaskId task, GroupId group);
  void plan_free_tasks();
  [[nodiscard]] TaskId given(TaskId task);
  [[nodiscard]] TaskId take_slowly(GroupId group);
  void fill(GroupId group);
  [[nodiscard]] TaskId steal(GroupId group);
  [[nodiscard]] bool begins_sooner(Task const& task, GroupId group, GroupId planned) const;
  /// The group with the fewest planned and committed tasks for which `free(group)` holds; invalid when there is none.
  template <class Free>
  [[nodiscard]] GroupId least_queued(Free&& free) const;

  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  DartsIndex m_index;
  SlowerGroups m_slower;
};

// `auto` evicts otherwise than the paper, which does not look at what is written: the paper's policy is as fast and
// moves 1.14 times the bytes (bench/policies/written.py).
SchedulerRegistration const darts_registration("darts",
                                               [](PolicyOptions&) { return std::make_unique<DartsScheduler>(); },
                                               {.eviction = "luf",
                                                .in_auto = {.place_if_data_fit = 5,
                                                            .place_if_larger = 2,
                                                            .start = SchedulerEntry::AutoUse::Start::UntilMeasured,
                                                            .eviction = "luf:written=8"}});

// Tasks are stolen only from this many last places of another group's plan.
constexpr int steal_depth = 16;

}  // namespace

void DartsScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_index.attach(view, board);
  m_slower.attach(view);
}

template <class Free>
GroupId DartsScheduler::least_queued(Free&& free) const {
  GroupId best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) {
    GroupId const group(g);
    if (!free(group)) continue;
    std::size_t const queued = m_board->plan(group).size() + m_view->committed(group).size();
    if (queued >= fewest) continue;
    fewest = queued;
    best = group;
  }
  return best;
}

// End of section 5.3: a task that is free from the start goes directly to a plan.
void DartsScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  auto const fast = m_slower.ready(task);
  GroupId const group = least_queued([&](GroupId g) {
    return fast.contains(g) && std::ranges::all_of(task.accesses, [&](Access const& access) {
             return access.repeated || !reads(access.mode) || m_index.loaded(access.data, g);
           });
  });
  group.valid() ? m_board->append(group, id, task.accesses) : m_index.add(id, fast);
}

TaskId DartsScheduler::next(GroupId group) {
  plan_free_tasks();
  if (m_board->plan(group).empty()) fill(group);
  auto const& plan = m_board->plan(group);
  if (plan.empty()) {
    TaskId const stolen = steal(group);
    return given(stolen.valid() ? stolen : take_slowly(group));
  }
  TaskId const head = plan.begin()->second;
  // Its inputs stay loaded for the group, since the task will be committed.
  m_board->remove(head);
  return given(head);
}

TaskId DartsScheduler::given(TaskId id) {
  if (id.valid()) m_slower.leave(m_view->task(id));
  return id;
}

TaskId DartsScheduler::take_slowly(GroupId group) {
  TaskId const id = m_slower.best_for(group);
  if (id.valid()) forget(m_view->task(id));
  return id;
}

void DartsScheduler::plan(TaskId id, GroupId group) {
  m_index.remove(id);
  m_board->append(group, id, m_view->task(id).accesses);
}

void DartsScheduler::plan_free_tasks() {
  for (TaskId const id : m_index.take_free_candidates()) {
    auto const& task = m_view->task(id);
    for (GroupId const group : task.allowed_groups) refresh_inputs(task, group);
    GroupId const group = least_queued([&](GroupId g) { return m_index.is_free(id, g); });
    if (group.valid()) plan(id, group);
  }
}

// Algorithm 3, lines 2 to 17.
void DartsScheduler::fill(GroupId group) {
  DataId const best = m_index.best_data(group);
  if (best.valid()) {
    auto const enabled = m_index.enabled_by(best, group);
    if (!enabled.empty()) {
      for (TaskId const id : enabled) plan(id, group);
      m_index.refresh(best, group);
      return;
    }
  }
  TaskId const id = best.valid() ? m_index.best_one_further(best, group) : m_index.best_ready(group);
  if (!id.valid()) return;
  plan(id, group);
  refresh_inputs(m_view->task(id), group);
}

TaskId DartsScheduler::steal(GroupId group) {
  std::vector<GroupId> others;
  for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) {
    if (!m_board->plan(GroupId(g)).empty()) others.emplace_back(g);
  }
  std::ranges::stable_sort(others, std::ranges::greater{}, [&](GroupId g) { return m_board->plan(g).size(); });
  for (GroupId const other : others) {
    auto const& plan = m_board->plan(other);
    int looked_at = 0;
    for (auto place = plan.rbegin(); place != plan.rend() && looked_at < steal_depth; ++place, ++looked_at) {
      TaskId const id = place->second;
      auto const& task = m_view->task(id);
      if (!m_slower.is_fast(task, group) || !begins_sooner(task, group, other)) continue;
      m_board->remove(id);
      // On the same node its inputs stay loaded: the task will be committed there.
      if (m_view->topology().group(other).node != m_view->topology().group(group).node) refresh_inputs(task, other);
      return id;
    }
  }
  return {};
}

// True if moving the task's inputs to the group takes no longer than the work before the task on the group `planned`.
bool DartsScheduler::begins_sooner(Task const& task, GroupId group, GroupId planned) const {
  NodeId const node = m_view->topology().group(group).node;
  Duration moving{0};
  for (auto const& access : task.accesses) {
    bool const needed = !access.repeated && reads(access.mode) && !m_index.loaded(access.data, group);
    if (needed) moving += m_view->transfer_time(access.data, node);
  }
  moving *= static_cast<std::int64_t>(m_view->topology().group(planned).workers.size());
  for (TaskId const id : m_view->committed(planned)) moving -= m_view->kernel_time(id, planned);
  for (auto const& [position, id] : m_board->plan(planned)) {
    if (moving <= Duration{0} || id == task.id) break;
    moving -= m_view->kernel_time(id, planned);
  }
  return moving <= Duration{0};
}

void DartsScheduler::forget(Task const& task) {
  if (m_index.contains(task.id)) {
    m_index.remove(task.id);
    return;
  }
  m_board->remove(task.id);
  for (std::uint32_t g = 0; g < m_view->topology().groups().size(); ++g) refresh_inputs(task, GroupId(g));
}

void DartsScheduler::withdrawn(TaskId id, Withdrawal why, GroupId group) {
  auto const& task = m_view->task(id);
  if (why == Withdrawal::Cancelled) {
    m_slower.leave(task);
    forget(task);
  } else if (why == Withdrawal::InputEvicted) {
    // The next call of `next` checks whether the task is free: now the evicted datum may still count as loaded.
    refresh_inputs(task, group);
    m_index.add(id, m_slower.fast_groups(task));
  }
}

void DartsScheduler::replica_expected(DataId data, NodeId node) { refresh_on(data, node); }

void DartsScheduler::replica_valid(DataId data, NodeId node) {
  refresh_on(data, node);
  m_index.replicas_changed(data);
}

void DartsScheduler::replica_dropped(DataId data, NodeId node) {
  refresh_on(data, node);
  m_index.replicas_changed(data);
}

void DartsScheduler::refresh_on(DataId data, NodeId node) {
  for (GroupId const group : m_view->topology().groups_on(node)) m_index.refresh(data, group);
}

void DartsScheduler::refresh_inputs(Task const& task, GroupId group) {
  for (auto const& access : task.accesses) {
    if (!access.repeated && reads(access.mode)) m_index.refresh(access.data, group);
  }
}

}  // namespace granary::detail