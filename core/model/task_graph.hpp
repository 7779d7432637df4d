// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/chunked_array.hpp>
#include <granary/core/base/export.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/base/paged_array.hpp>
#include <granary/core/model/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace granary {

/// The live tasks and the dependencies that follow from their accesses in the order of submission. A reader depends on
/// the last writer of the datum; a writer depends on the last writer and every reader since.
///
/// Adding a task costs O(accesses + edges); a finished task costs O(its successors + accesses), amortised. Only
/// unfinished tasks are linked. Memory: live tasks and their accesses, and 24 bytes for each datum. `Node` is a Task,
/// or derived from it.
template <class Node>
class GRANARY_EXPORT BasicTaskGraph {
 public:
  /// Assigns the next submission number, links the task to its predecessors and returns it. `Task::predecessors` is 0
  /// when it may run at once.
  Node& add(AccessList accesses);

  /// Removes a task that ran or was cancelled, and calls `released(Node&)` for each task that waited for it alone.
  /// Returns its accesses.
  template <class Function>
  AccessList finish(TaskId id, Function&& released) {
    Node& task = m_tasks[id];
    AccessList accesses = std::move(task.accesses);
    for (auto const& access : accesses) {
      if (!access.repeated) end_access(access);
    }
    std::uint32_t edge = task.first_successor;
    m_tasks.erase(id);
    while (edge != Task::none) {
      // They lie anywhere in memory: several are on their way from there before the first is changed.
      std::array<Node*, 8> successors;
      std::size_t count = 0;
      for (; edge != Task::none && count < successors.size(); ++count) {
        auto const [successor, next] = m_links[edge];
        successors[count] = &m_tasks[id_of(successor)];
        __builtin_prefetch(successors[count], 1);
        free_link(edge);
        edge = next;
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (--successors[i]->predecessors == 0) released(*successors[i]);
      }
    }
    return accesses;
  }

  /// Calls `function(TaskId)` for each successor, once per datum that links them.
  template <class Function>
  void for_each_successor(Task const& task, Function&& function) const {
    for (auto edge = task.first_successor; edge != Task::none; edge = m_links[edge].next)
      function(id_of(m_links[edge].task));
  }

  [[nodiscard]] Node& operator[](TaskId id) { return m_tasks[id]; }
  [[nodiscard]] Node const& operator[](TaskId id) const { return m_tasks[id]; }
  /// Null for a task that has ended.
  [[nodiscard]] Node* find(TaskId id) { return m_tasks.find(id); }
  [[nodiscard]] Node const* find(TaskId id) const { return m_tasks.find(id); }
  [[nodiscard]] std::size_t size() const { return m_tasks.size(); }
  /// The number of tasks ever added.
  [[nodiscard]] std::uint64_t submitted() const { return m_next; }
  /// Removes a datum that no unfinished task accesses.
  void forget(DataId data);

  template <class Function>
  void for_each(Function&& function) {
    m_tasks.for_each([&](TaskId, Node& task) { function(task); });
  }
  template <class Function>
  void for_each(Function&& function) const {
    m_tasks.for_each([&](TaskId, Node const& task) { function(task); });
  }

 private:
  // A task in a list of successors or of a datum's readers. It holds only the lower half of the id, since there are
  // many.
  struct Link {
    std::uint32_t task;
    std::uint32_t next;
  };
  // The last added task with this lower half of an id: the only one among those looked up that may be alive.
  [[nodiscard]] TaskId id_of(std::uint32_t low) const {
    return TaskId(m_next - static_cast<std::uint32_t>(static_cast<std::uint32_t>(m_next) - low));
  }
  struct History {
    TaskId last_writer;                       // possibly finished
    std::uint32_t first_reader = Task::none;  // head of the list of readers since then; possibly finished
    std::uint32_t last_reader = Task::none;   // its end
    std::uint32_t readers = 0;                // in that list
    std::uint32_t users = 0;                  // unfinished tasks that access it
  };
  // Finished readers are dropped from lists of this length.
  static constexpr std::uint32_t many_readers = 16;

  void add_edge(TaskId before, Node& after);
  void end_access(Access const& access);
  void drop_finished_readers(History& history);
  void forget_readers(History& history);
  [[nodiscard]] std::uint32_t take_link(TaskId task, std::uint32_t next);
  void free_link(std::uint32_t link) {
    m_links[link].next = m_free_link;
    m_free_link = link;
  }

  PagedArray<TaskId, Node> m_tasks;
  std::vector<History> m_histories;  // by datum
  ChunkedArray<Link, 1024> m_links;  // of all lists; as many as the live tasks needed at their peak
  std::uint32_t m_free_link = Task::none;
  std::uint64_t m_next = 0;
};

using TaskGraph = BasicTaskGraph<Task>;

template <class Node>
Node& BasicTaskGraph<Node>::add(AccessList accesses) {
  TaskId const id(m_next++);
  Node& task = m_tasks.create(id);
  task.id = id;
  task.accesses = std::move(accesses);
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= m_histories.size()) m_histories.resize(access.data.index() + 1);
    auto& past = m_histories[access.data.index()];
    ++past.users;
    if (!writes(access.mode)) {
      add_edge(past.last_writer, task);
      if (past.readers >= many_readers && past.readers > 2 * past.users) drop_finished_readers(past);
      past.first_reader = take_link(id, past.first_reader);
      if (past.readers++ == 0) past.last_reader = past.first_reader;
      continue;
    }
    // Every reader since the last write depends on that write, so the write itself matters only if there is no reader.
    if (past.readers == 0) add_edge(past.last_writer, task);
    for (auto reader = past.first_reader; reader != Task::none; reader = m_links[reader].next)
      add_edge(id_of(m_links[reader].task), task);
    forget_readers(past);
    past.last_writer = id;
  }
  return task;
}

template <class Node>
std::uint32_t BasicTaskGraph<Node>::take_link(TaskId task, std::uint32_t next) {
  std::uint32_t link = m_free_link;
  if (link == Task::none) {
    link = static_cast<std::uint32_t>(m_links.size());
    m_links.grow();
  } else {
    m_free_link = m_links[link].next;
    if (m_free_link != Task::none) __builtin_prefetch(&m_links[m_free_link], 1);
  }
  m_links[link] = {static_cast<std::uint32_t>(task.value()), next};
  return link;
}

template <class Node>
void BasicTaskGraph<Node>::add_edge(TaskId before, Node& after) {
  if (!before.valid()) return;
  Node* const predecessor = m_tasks.find(before);
  if (predecessor == nullptr || predecessor == &after) return;  // the task itself: one that ended 2^32 tasks ago
  predecessor->first_successor = take_link(after.id, predecessor->first_successor);
  ++after.predecessors;
}

template <class Node>
void BasicTaskGraph<Node>::end_access(Access const& access) {
  auto& past = m_histories[access.data.index()];
  if (--past.users == 0) forget_readers(past);
}

template <class Node>
void BasicTaskGraph<Node>::drop_finished_readers(History& past) {
  auto reader = std::exchange(past.first_reader, Task::none);
  past.readers = 0;
  while (reader != Task::none) {
    auto const [task, next] = m_links[reader];
    if (m_tasks.find(id_of(task)) == nullptr) {
      free_link(reader);
    } else {
      m_links[reader].next = std::exchange(past.first_reader, reader);
      if (past.readers++ == 0) past.last_reader = reader;
    }
    reader = next;
  }
}

template <class Node>
void BasicTaskGraph<Node>::forget_readers(History& past) {
  if (past.readers == 0) return;
  m_links[past.last_reader].next = m_free_link;
  m_free_link = std::exchange(past.first_reader, Task::none);
  past.readers = 0;
}

template <class Node>
void BasicTaskGraph<Node>::forget(DataId data) {
  if (data.index() >= m_histories.size()) return;
  forget_readers(m_histories[data.index()]);
  m_histories[data.index()] = {};
}

}  // namespace granary
