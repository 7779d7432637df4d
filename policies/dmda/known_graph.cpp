// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/dmda/known_graph.hpp>

#include <span>

namespace granary::detail {

void KnownGraph::submitted(TaskId task) {
  if (task == m_finished) {  // a worker gave it back: what depends on it waits again
    m_finished = {};
    m_graph[m_ids.at(task)].waits = true;
    return;
  }
  end_finished();
  auto const& told = m_view->task(task);
  auto& node = m_graph.add(AccessList(std::span(told.accesses.begin(), told.accesses.size())));
  node.told = task;
  node.priority = told.priority;
  node.allowed_groups = told.allowed_groups;
  m_ids.insert(task, node.id);
}

void KnownGraph::ready(TaskId task) {
  end_finished();
  if (!m_ids.contains(task)) submitted(task);
  m_graph[m_ids.at(task)].waits = false;
}

void KnownGraph::finished(TaskId task) {
  end_finished();
  if (m_ids.contains(task)) m_finished = task;
}

void KnownGraph::cancelled(TaskId task) {
  end_finished();
  if (m_ids.contains(task)) erase(task);
}

KnownGraph::Node* KnownGraph::find(TaskId task) {
  return m_ids.contains(task) ? m_graph.find(m_ids.at(task)) : nullptr;
}

std::vector<KnownGraph::Node*> const& KnownGraph::released() {
  end_finished();
  std::erase_if(m_released, [](Node const* node) { return !node->waits; });
  return m_released;
}

void KnownGraph::end_finished() {
  if (!m_finished.valid()) return;
  TaskId const task = m_finished;
  m_finished = {};
  m_released.clear();
  erase(task);
}

void KnownGraph::erase(TaskId task) {
  TaskId const id = m_ids.take(task);
  std::erase(m_released, m_graph.find(id));
  m_graph.finish(id, [&](Node& after) { m_released.push_back(&after); });
}

}  // namespace granary::detail
