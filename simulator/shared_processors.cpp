// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/simulator/shared_processors.hpp>

#include <algorithm>
#include <cmath>

namespace granary::detail {
namespace {

// Ends are rounded up to whole nanoseconds, so less than this is left then.
constexpr double nothing_left = 0.5;

}  // namespace

void SharedProcessors::start(WorkerId worker, NodeId node, double share, Duration alone, Instant now) {
  progress(now);
  m_running.push_back({worker, node, share, static_cast<double>(alone.count()), now});
  find_next();
}

std::vector<SharedProcessors::Ended> const& SharedProcessors::advance(Instant now) {
  progress(now);
  m_ended.clear();
  std::erase_if(m_running, [&](Running const& task) {
    if (task.left > nothing_left) return false;
    m_ended.push_back({task.worker, task.start});
    return true;
  });
  find_next();
  return m_ended;
}

void SharedProcessors::stop(WorkerId worker, Instant now) {
  progress(now);
  std::erase_if(m_running, [&](Running const& task) { return task.worker == worker; });
  find_next();
}

void SharedProcessors::progress(Instant now) {
  auto const elapsed = static_cast<double>((now - m_now).count());
  m_now = now;
  if (elapsed == 0) return;
  for (auto& task : m_running) task.left -= elapsed / slowdown(task.node);
}

void SharedProcessors::find_next() {
  // Summed anew, since differences of sums would not be exactly 0 when nothing runs.
  std::ranges::fill(m_load, 0);
  for (auto const& task : m_running) {
    if (task.node.index() >= m_load.size()) m_load.resize(task.node.index() + 1);
    m_load[task.node.index()] += task.share;
  }
  m_next = Instant::max();
  auto const longest = static_cast<double>(longest_duration.count());
  for (auto const& task : m_running) {
    double const wait = std::ceil(std::max(task.left, 0.0) * slowdown(task.node));
    m_next = std::min(m_next, wait < longest ? m_now + Duration(static_cast<Duration::rep>(wait)) : Instant::max());
  }
}

double SharedProcessors::slowdown(NodeId node) const { return std::max(1.0, m_load[node.index()]); }

}  // namespace granary::detail
