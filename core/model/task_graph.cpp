// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/model/task_graph.hpp>

#include <algorithm>

namespace granary {

Task& TaskGraph::add(AccessList accesses) {
  TaskId const id(m_next++);
  Task& task = m_tasks.create(id);
  task.id = id;
  task.accesses = std::move(accesses);
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= m_histories.size()) m_histories.resize(access.data.index() + 1);
    auto& past = m_histories[access.data.index()];
    ++past.pending;
    if (!writes(access.mode)) {
      link(past.last_writer, task);
      if (past.readers.size() >= past.purge_at) purge_readers(past);
      past.readers.push_back(id);
      continue;
    }
    ++past.pending_writers;
    // Every reader since the last write follows that write, so the write itself matters only when nobody read it.
    if (past.readers.empty()) link(past.last_writer, task);
    for (TaskId const reader : past.readers) link(reader, task);
    past.readers.clear();
    past.purge_at = 16;
    past.last_writer = id;
  }
  return task;
}

void TaskGraph::link(TaskId before, Task& after) {
  if (!before.valid()) return;
  Task* const predecessor = m_tasks.find(before);
  if (predecessor == nullptr) return;
  std::uint32_t edge = m_free_edge;
  if (edge == Task::none) {
    edge = static_cast<std::uint32_t>(m_edges.size());
    m_edges.push_back({});
  } else {
    m_free_edge = m_edges[edge].next;
  }
  m_edges[edge] = {after.id, predecessor->first_successor};
  predecessor->first_successor = edge;
  ++after.predecessors;
}

void TaskGraph::end_access(TaskId task, Access const& access) {
  auto& past = m_histories[access.data.index()];
  --past.pending;
  if (!writes(access.mode)) {
    // Finished readers stay in the list until it is purged; the usual short list is cleaned here at once.
    if (past.readers.size() == 1 && past.readers.front() == task) past.readers.clear();
    return;
  }
  --past.pending_writers;
}

void TaskGraph::purge_readers(History& past) {
  std::erase_if(past.readers, [&](TaskId reader) { return m_tasks.find(reader) == nullptr; });
  past.purge_at = static_cast<std::uint32_t>(std::max<std::size_t>(16, 2 * past.readers.size()));
}

TaskGraph::History const& TaskGraph::history(DataId data) const {
  static History const none;
  return data.index() < m_histories.size() ? m_histories[data.index()] : none;
}

void TaskGraph::forget(DataId data) {
  if (data.index() < m_histories.size()) m_histories[data.index()] = {};
}

}  // namespace granary
