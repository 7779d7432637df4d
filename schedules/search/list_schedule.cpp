// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/search/list_schedule.hpp>

#include <algorithm>

namespace granary::search {

ListScheduler::ListScheduler(ListProblem const& problem)
    : m_problem(problem), m_classes(problem.classes().size()), m_ready_since(problem.tasks()) {
  m_times.starts.resize(problem.tasks());
  m_times.workers.resize(problem.tasks());
  m_times.causes.resize(problem.tasks());
}

Duration::rep ListScheduler::schedule(ListPlan const& plan) {
  for (std::size_t c = 0; c < m_classes.size(); ++c) {
    auto const& workers = m_problem.classes()[c].workers;
    m_classes[c].ready.clear();
    m_classes[c].idle.assign(workers.rbegin(), workers.rend());
  }
  m_running.clear();
  m_missing = m_problem.predecessors();
  Duration::rep now = 0;
  for (std::uint32_t task = 0; task < m_problem.tasks(); ++task) {
    m_ready_since[task] = 0;
    if (m_missing[task] == 0) release(task, plan, task);
  }
  start_ready(now);
  while (!m_running.empty()) {
    now = m_running.front().end;
    end_tasks(now, plan);
    start_ready(now);
  }
  return now;
}

void ListScheduler::release(std::uint32_t task, ListPlan const& plan, std::uint32_t cause) {
  m_times.causes[task] = cause;
  auto& ready = m_classes[plan.classes[task]].ready;
  ready.push_back({plan.priorities[task], task});
  std::push_heap(ready.begin(), ready.end());
}

void ListScheduler::end_tasks(Duration::rep now, ListPlan const& plan) {
  while (!m_running.empty() && m_running.front().end == now) {
    std::uint32_t const task = m_running.front().task;
    std::pop_heap(m_running.begin(), m_running.end());
    m_running.pop_back();
    auto& workers = m_classes[plan.classes[task]];
    workers.idle.push_back(m_times.workers[task]);
    workers.freed_by = task;
    m_times.last = task;
    for (std::uint32_t const next : m_problem.successors(task)) {
      if (--m_missing[next] > 0) continue;
      m_ready_since[next] = now;
      release(next, plan, task);
    }
  }
}

void ListScheduler::start_ready(Duration::rep now) {
  for (std::size_t c = 0; c < m_classes.size(); ++c) {
    auto& [ready, idle, freed_by] = m_classes[c];
    while (!ready.empty() && !idle.empty()) {
      std::uint32_t const task = ready.front().task;
      std::pop_heap(ready.begin(), ready.end());
      ready.pop_back();
      m_times.starts[task] = now;
      m_times.workers[task] = idle.back();
      idle.pop_back();
      if (m_ready_since[task] < now) m_times.causes[task] = freed_by;
      m_running.push_back({now + m_problem.time(task, c), task});
      std::push_heap(m_running.begin(), m_running.end());
    }
  }
}

}  // namespace granary::search
