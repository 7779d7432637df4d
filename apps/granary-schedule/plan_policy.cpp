// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan_policy.hpp"

#include <algorithm>

namespace granary::app {

void PlanPolicy::attach(SystemView const& view, PlanBoard&) {
  m_view = &view;
  m_ready.resize(m_problem.classes().size());
  for (auto const& group : view.topology().groups()) {
    auto& classes = m_classes.emplace_back();
    for (WorkerId const worker : group.workers) {
      auto const its = m_problem.class_of(worker.index());
      if (std::ranges::find(classes, its) == classes.end()) classes.push_back(its);
    }
  }
  if (m_order == Order::AsReady) return;
  m_left.resize(m_problem.classes().size());
  for (std::uint32_t task = 0; task < m_problem.tasks(); ++task) m_left[m_plan.classes[task]].push_back(task);
  for (auto& left : m_left) {
    std::ranges::sort(left, [&](std::uint64_t a, std::uint64_t b) {
      return Entry{m_plan.priorities[a], a, {}} < Entry{m_plan.priorities[b], b, {}};
    });
  }
}

bool PlanPolicy::has_next(std::uint32_t worker_class) const {
  auto const& ready = m_ready[worker_class];
  if (ready.empty()) return false;
  return m_order == Order::AsReady || ready.front().position == m_left[worker_class].back();
}

void PlanPolicy::ready(TaskId id) {
  auto const position = m_view->task(id).position;
  auto& ready = m_ready[m_plan.classes[position]];
  ready.push_back({m_plan.priorities[position], position, id});
  std::push_heap(ready.begin(), ready.end());
}

TaskId PlanPolicy::next(GroupId group) {
  auto const& workers = m_view->topology().group(group);
  if (workers.node == m_home && m_view->committed(group).size() >= workers.workers.size()) return {};
  std::vector<Entry>* best = nullptr;
  for (auto const worker_class : m_classes[group.index()]) {
    auto& ready = m_ready[worker_class];
    if (has_next(worker_class) && (best == nullptr || best->front() < ready.front())) best = &ready;
  }
  if (best == nullptr) return {};
  TaskId const task = best->front().task;
  std::pop_heap(best->begin(), best->end());
  best->pop_back();
  if (m_order == Order::Strict) m_left[m_plan.classes[m_view->task(task).position]].pop_back();
  return task;
}

void PlanPolicy::withdrawn(TaskId task, Withdrawal, GroupId) {
  for (auto& ready : m_ready) {
    if (std::erase_if(ready, [&](Entry const& entry) { return entry.task == task; }) > 0)
      std::make_heap(ready.begin(), ready.end());
  }
}

}  // namespace granary::app
