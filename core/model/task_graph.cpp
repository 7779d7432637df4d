// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/model/task_graph.hpp>

#include <utility>

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
      add_edge(past.last_writer, task);
      if (past.readers >= many_readers && past.readers > 2 * past.pending) drop_finished_readers(past);
      past.first_reader = take_link(id, past.first_reader);
      ++past.readers;
      continue;
    }
    ++past.pending_writers;
    // Every reader since the last write depends on that write, so the write itself matters only if there is no reader.
    if (past.readers == 0) add_edge(past.last_writer, task);
    for (auto reader = past.first_reader; reader != Task::none; reader = m_links[reader].next)
      add_edge(id_of(m_links[reader].task), task);
    forget_readers(past);
    past.last_writer = id;
  }
  return task;
}

std::uint32_t TaskGraph::take_link(TaskId task, std::uint32_t next) {
  std::uint32_t link = m_free_link;
  if (link == Task::none) {
    link = static_cast<std::uint32_t>(m_links.size());
    m_links.push_back({});
  } else {
    m_free_link = m_links[link].next;
  }
  m_links[link] = {static_cast<std::uint32_t>(task.value()), next};
  return link;
}

void TaskGraph::add_edge(TaskId before, Task& after) {
  if (!before.valid()) return;
  Task* const predecessor = m_tasks.find(before);
  if (predecessor == nullptr || predecessor == &after) return;  // the task itself: one that ended 2^32 tasks ago
  predecessor->first_successor = take_link(after.id, predecessor->first_successor);
  ++after.predecessors;
}

void TaskGraph::end_access(Access const& access) {
  auto& past = m_histories[access.data.index()];
  if (writes(access.mode)) --past.pending_writers;
  if (--past.pending == 0) forget_readers(past);
}

void TaskGraph::drop_finished_readers(History& past) {
  auto reader = std::exchange(past.first_reader, Task::none);
  past.readers = 0;
  while (reader != Task::none) {
    auto const [task, next] = m_links[reader];
    if (m_tasks.find(id_of(task)) == nullptr) {
      free_link(reader);
    } else {
      m_links[reader].next = std::exchange(past.first_reader, reader);
      ++past.readers;
    }
    reader = next;
  }
}

void TaskGraph::forget_readers(History& past) {
  while (past.first_reader != Task::none) {
    auto const next = m_links[past.first_reader].next;
    free_link(past.first_reader);
    past.first_reader = next;
  }
  past.readers = 0;
}

TaskGraph::History const& TaskGraph::history(DataId data) const {
  static History const none;
  return data.index() < m_histories.size() ? m_histories[data.index()] : none;
}

void TaskGraph::forget(DataId data) {
  if (data.index() >= m_histories.size()) return;
  forget_readers(m_histories[data.index()]);
  m_histories[data.index()] = {};
}

}  // namespace granary
