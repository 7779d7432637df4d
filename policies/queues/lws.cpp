// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/queues/lws.hpp>
#include <granary/detail/policies/queues/neighbours.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>

namespace granary::detail {
namespace {

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
