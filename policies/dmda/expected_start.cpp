// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/dmda/expected_start.hpp>

#include <algorithm>

namespace granary::detail {

void ExpectedStart::attach(SystemView const& view) {
  m_view = &view;
  m_lanes.resize(view.topology().machine().workers.size());
  for (auto const& group : view.topology().groups()) {
    for (std::uint32_t i = 0; i < group.workers.size(); ++i) m_lanes[group.workers[i].index()].number = i;
  }
}

void ExpectedStart::issued(TaskId task) {
  auto& lane = m_lanes[m_view->assignment(task).worker.index()];
  if (lane.held++ == 0) lane.since = m_view->now();
}

void ExpectedStart::finished(TaskId task) {
  WorkerId const worker = m_view->assignment(task).worker;
  if (!worker.valid()) return;  // cancelled before it was issued
  --m_lanes[worker.index()].held;
  m_lanes[worker.index()].since = m_view->now();
}

Duration ExpectedStart::operator()(GroupId group, Duration work, std::size_t queued) const {
  auto const& workers = m_view->topology().group(group).workers;
  m_scratch.assign(workers.size(), 0);
  for (TaskId const id : m_view->committed(group)) {
    auto const& assignment = m_view->assignment(id);
    if (assignment.phase == TaskPhase::Issued) {
      m_scratch[m_lanes[assignment.worker.index()].number] += assignment.estimate.count();
    } else {
      work += assignment.estimate;
      ++queued;
    }
  }
  for (WorkerId const worker : workers) {
    auto const& lane = m_lanes[worker.index()];
    auto& left = m_scratch[lane.number];
    left = std::max<Duration::rep>(0, left - (m_view->now() - lane.since).count());
  }
  return Duration{first_free(m_scratch, work.count(), queued)};
}

Duration::rep first_free(std::vector<Duration::rep>& busy_until, Duration::rep work, std::size_t count) {
  using Rep = Duration::rep;
  if (busy_until.size() == 1) return busy_until.front() + work;
  std::ranges::sort(busy_until);
  if (count == 0) return busy_until.front();
  // A water-filling of the work over the lanes reaches this level. Whole tasks are placed below it; the remaining ones
  // go, one each, to the lanes on which they end first.
  Rep level = 0;
  Rep below = 0;
  for (std::size_t i = 0; i < busy_until.size(); ++i) {
    below += busy_until[i];
    level = (work + below) / static_cast<Rep>(i + 1);
    if (i + 1 == busy_until.size() || level <= busy_until[i + 1]) break;
  }
  Rep const length = std::max<Rep>(1, (work + static_cast<Rep>(count) - 1) / static_cast<Rep>(count));
  std::size_t placed = 0;
  for (auto& lane : busy_until) {
    Rep const tasks = lane < level ? (level - lane) / length : 0;
    lane += tasks * length;
    placed += static_cast<std::size_t>(tasks);
  }
  std::size_t const left = std::min(count - std::min(placed, count), busy_until.size() - 1);
  auto const free_lane = busy_until.begin() + static_cast<std::ptrdiff_t>(left);
  std::ranges::nth_element(busy_until, free_lane);
  return *free_lane;
}

}  // namespace granary::detail
