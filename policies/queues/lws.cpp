// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/policy_options.hpp>
#include <granary/detail/policies/queues/neighbours.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

/// LWS, locality work stealing (DARTS, section 4.3): every group has a queue sorted by priority, then by arrival. A
/// task joins the queue of the group that released it; if it may not run there, of the least loaded group that may run
/// it. Tasks that are ready at submission are distributed round-robin over the workers. A group that is about to idle
/// and has an empty queue steals a set of tasks from the nearest group with a queue.
///
/// About to idle: each of its workers has at most one task, so that stolen data are fetched while that one runs. A
/// victim without any committed task keeps one task per worker, which it is about to take itself.
///
/// Options:
///   order  `priority` (the default), as StarPU's lws and as section 7.2 says of LU; `submission`: each queue is in the
///          order of submission, whatever the priorities, as section 7.1.3 says of one GPU. That sentence is also about
///          EAGER, which uses the order of release by section 4.1: with one worker the two are the same for a
///          factorization if the tasks that one task releases come in the order of submission, as in StarPU. Here they
///          come in the opposite order, so the queue is sorted by submission. Section 4.3 leaves the order open, except
///          that thieves take from the end: so they do, and `from` has no effect.
///   steal  the share of the victim's tasks that is stolen, at least one task; by default 1/20, so that a long queue
///          loses several. A large share also takes tasks whose data the victim holds, and many more bytes are moved.
///   from   `urgent` (the default): the last arrived among the most urgent tasks, as in StarPU; `end`: the least urgent
///          tasks, at the end of the whole queue, as in the paper. With equal priorities both are the same. With
///          Cholesky's bottom levels, thieves that run the least urgent tasks delay the critical path.
///
/// Queues are published on the board. Every step costs O(log tasks + distinct sets of allowed groups) per moved task.
class LwsScheduler final : public Scheduler, public SystemEvents {
 public:
  explicit LwsScheduler(PolicyOptions& options);

  void attach(SystemView const& view, PlanBoard& board) override;
  void submitted(TaskId) override { m_releaser = {}; }
  void external_finished(TaskId) override { m_releaser = {}; }
  void finished(TaskId task) override { m_releaser = m_view->assignment(task).group; }
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  /// The task would join the group's queue.
  [[nodiscard]] bool hand_over(TaskId, GroupId) override { return true; }
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true, .heeds_priorities = m_by_priority}; }

 private:
  struct Key {
    std::int64_t rank;
    std::uint64_t arrival;
    TaskId task;
    auto operator<=>(Key const&) const = default;
  };
  // The tasks allowed on the same groups, so that a thief sees no others.
  struct Part {
    GroupSet allowed_groups;
    std::set<Key> tasks;
  };
  struct Queue {
    std::vector<Part> parts;
    std::size_t size = 0;
  };
  struct Entry {
    GroupId group;
    Key key;
  };

  [[nodiscard]] GroupId home_of(Task const& task);
  [[nodiscard]] GroupId least_loaded(Task const& task) const;
  [[nodiscard]] bool idles_soon(GroupId group) const;
  void put(Task const& task, GroupId group, std::int64_t rank);
  /// Removes the task from its queue.
  Key take(TaskId task);
  [[nodiscard]] std::set<Key>& part_of(GroupId group, GroupSet allowed_groups);
  void steal(GroupId thief);
  [[nodiscard]] TaskId last_for(GroupId thief, GroupId victim) const;

  bool m_by_priority;
  double m_share;
  bool m_from_urgent;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  GroupId m_releaser;                              // of the tasks that become ready now
  std::size_t m_round = 0;                         // the next worker for tasks that are ready at submission
  std::vector<Queue> m_queues;                     // by group
  std::vector<std::vector<GroupId>> m_neighbours;  // by group: the others, nearest first
  TaskTable<Entry> m_entries;
  std::uint64_t m_arrivals = 0;
};

SchedulerRegistration const lws_registration("lws", [](PolicyOptions& options) {
  return std::make_unique<LwsScheduler>(options);
});

}  // namespace

LwsScheduler::LwsScheduler(PolicyOptions& options)
    : m_by_priority(options.choice("order", "priority", {"priority", "submission"}) == "priority"),
      m_share(options.number("steal", 0.05, 0, 1)),
      m_from_urgent(options.choice("from", "urgent", {"urgent", "end"}) == "urgent" && m_by_priority) {}

void LwsScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_queues.resize(view.topology().groups().size());
  m_neighbours = neighbours_of_groups(view.topology());
}

GroupId LwsScheduler::least_loaded(Task const& task) const {
  GroupId best;
  double least = std::numeric_limits<double>::infinity();
  for (GroupId const group : task.allowed_groups) {
    double const load = static_cast<double>(m_queues[group.index()].size + m_view->committed(group).size()) /
                        static_cast<double>(m_view->topology().group(group).workers.size());
    if (load >= least) continue;
    least = load;
    best = group;
  }
  return best;
}

GroupId LwsScheduler::home_of(Task const& task) {
  if (m_releaser.valid()) return task.allowed_on(m_releaser) ? m_releaser : least_loaded(task);
  auto const workers = m_view->topology().machine().workers.size();
  for (;;) {
    WorkerId const worker(static_cast<std::uint32_t>(m_round));
    m_round = (m_round + 1) % workers;
    GroupId const group = m_view->topology().group_of(worker);
    if (task.allowed_on(group)) return group;
  }
}

void LwsScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  put(task, home_of(task), m_by_priority ? priority_rank(task.priority) : static_cast<std::int64_t>(id.value()));
}

std::set<LwsScheduler::Key>& LwsScheduler::part_of(GroupId group, GroupSet allowed_groups) {
  auto& parts = m_queues[group.index()].parts;
  auto const found = std::ranges::find(parts, allowed_groups, &Part::allowed_groups);
  return found != parts.end() ? found->tasks : parts.emplace_back(Part{allowed_groups, {}}).tasks;
}

void LwsScheduler::put(Task const& task, GroupId group, std::int64_t rank) {
  Key const key{rank, m_arrivals++, task.id};
  part_of(group, task.allowed_groups).insert(key);
  ++m_queues[group.index()].size;
  m_entries.insert(task.id, {group, key});
  m_board->insert(group, task.id, task.accesses, rank);
}

LwsScheduler::Key LwsScheduler::take(TaskId task) {
  auto const [group, key] = m_entries.take(task);
  part_of(group, m_view->task(task).allowed_groups).erase(key);
  --m_queues[group.index()].size;
  m_board->remove(task);
  return key;
}

TaskId LwsScheduler::next(GroupId group) {
  if (m_queues[group.index()].size == 0 && idles_soon(group)) steal(group);
  auto const& plan = m_board->plan(group);
  return plan.empty() ? TaskId{} : take(plan.begin()->second).task;
}

bool LwsScheduler::idles_soon(GroupId group) const {
  return m_view->committed(group).size() <= m_view->topology().group(group).workers.size();
}

void LwsScheduler::steal(GroupId thief) {
  for (GroupId const victim : m_neighbours[thief.index()]) {
    std::size_t stealable = 0;
    for (auto const& part : m_queues[victim.index()].parts) {
      if (part.allowed_groups.contains(thief)) stealable += part.tasks.size();
    }
    std::size_t const left = m_view->committed(victim).empty() ? m_view->topology().group(victim).workers.size() : 0;
    if (stealable <= left) continue;
    auto const share = static_cast<std::size_t>(m_share * static_cast<double>(stealable));
    std::vector<Key> stolen;
    for (std::size_t n = std::clamp<std::size_t>(share, 1, stealable - left); n > 0; --n) {
      stolen.push_back(take(last_for(thief, victim)));
    }
    for (auto key = stolen.rbegin(); key != stolen.rend(); ++key) put(m_view->task(key->task), thief, key->rank);
    return;
  }
}

TaskId LwsScheduler::last_for(GroupId thief, GroupId victim) const {
  auto rank = std::numeric_limits<std::int64_t>::max();
  auto const for_each_part = [&](auto&& function) {
    for (auto const& part : m_queues[victim.index()].parts) {
      if (part.allowed_groups.contains(thief) && !part.tasks.empty()) function(part.tasks);
    }
  };
  if (m_from_urgent) {
    for_each_part([&](std::set<Key> const& tasks) { rank = std::min(rank, tasks.begin()->rank); });
  }
  Key const* last = nullptr;
  for_each_part([&](std::set<Key> const& tasks) {
    auto const behind = tasks.upper_bound(Key{rank, std::numeric_limits<std::uint64_t>::max(), TaskId{}});
    if (behind == tasks.begin()) return;
    Key const& key = *std::prev(behind);
    if (last == nullptr || *last < key) last = &key;
  });
  return last->task;
}

void LwsScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why == Withdrawal::Cancelled) take(task);
}

}  // namespace granary::detail