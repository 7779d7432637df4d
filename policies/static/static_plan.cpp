// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/static/static_plan.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace granary::detail {
namespace {

// By worker of the schedule: the machine's.
std::vector<WorkerId> matching(std::vector<ScheduleWorker> const& wanted, Machine const& machine) {
  std::vector<WorkerId> found(wanted.size());
  std::vector<bool> taken(machine.workers.size());
  auto const match = [&](auto&& alike) {
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      for (std::uint32_t m = 0; m < machine.workers.size() && !found[w].valid(); ++m) {
        auto const& worker = machine.workers[m];
        if (taken[m] || worker.kind != wanted[w].kind || !alike(worker, wanted[w])) continue;
        found[w] = WorkerId(m);
        taken[m] = true;
      }
    }
  };
  auto const same_node = [&](Worker const& worker, ScheduleWorker const& other) {
    return machine[worker.node].name == other.node;
  };
  match([&](Worker const& worker, ScheduleWorker const& other) {
    return worker.name == other.name && same_node(worker, other);
  });
  match(same_node);
  match([](Worker const&, ScheduleWorker const&) { return true; });
  return found;
}

}  // namespace

StaticPlan::StaticPlan(Schedule const& schedule, Machine const& machine) : m_places(schedule.tasks.size()) {
  auto const& tasks = schedule.tasks;
  std::vector<std::uint32_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  // A task may start earlier than the task before it on the worker: the rank counts.
  std::ranges::sort(order, {}, [&](std::uint32_t t) { return std::tuple(tasks[t].worker, tasks[t].rank, t); });
  std::vector<Duration> starts(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const& task = tasks[order[i]];
    bool const first = i == 0 || tasks[order[i - 1]].worker != task.worker;
    starts[order[i]] = first ? task.start : std::max(task.start, starts[order[i - 1]]);
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t t) { return starts[t]; });
  auto const workers = matching(schedule.workers, machine);
  // So that sums do not overflow.
  Duration const each = longest_duration / static_cast<Duration::rep>(tasks.size() + 1);
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    auto const& task = tasks[order[place]];
    m_places[order[place]] = place;
    m_workers.push_back(workers[task.worker]);
    m_starts.push_back(starts[order[place]]);
    m_durations.push_back(std::min(task.duration, each));
  }
}

StaticLane::StaticLane(std::vector<std::uint32_t> planned)
    : m_planned(std::move(planned)), m_sums(m_planned.size() + 2) {}

std::size_t StaticLane::index(std::uint32_t place) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(m_planned, place) - m_planned.begin());
}

void StaticLane::add(std::uint32_t place, Duration::rep duration) {
  for (std::size_t i = index(place) + 1; i < m_sums.size(); i += i & (~i + 1)) m_sums[i] += duration;
}

bool StaticLane::planned(std::uint32_t place) const {
  auto const number = index(place);
  return number < m_planned.size() && m_planned[number] == place;
}

void StaticLane::insert(std::uint32_t place, Duration duration) {
  m_left.insert(m_left.end(), place);
  if (planned(place)) {
    add(place, duration.count());
  } else {
    m_guests.emplace(place, duration.count());
  }
}

void StaticLane::erase(std::uint32_t place, Duration duration) {
  m_left.erase(place);
  m_ready.erase(place);
  if (planned(place)) {
    add(place, -duration.count());
  } else {
    m_guests.erase(place);
  }
}

Duration StaticLane::before(std::uint32_t place) const {
  Duration::rep sum = 0;
  for (std::size_t i = index(place); i > 0; i -= i & (~i + 1)) sum += m_sums[i];
  for (auto guest = m_guests.begin(); guest != m_guests.end() && guest->first < place; ++guest) sum += guest->second;
  return Duration(sum);
}

}  // namespace granary::detail
