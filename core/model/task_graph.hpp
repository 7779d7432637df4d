// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/chunked_array.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/paged_array.hpp>
#include <granary/detail/core/model/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary {

namespace detail {

/// The live tasks and the dependencies that follow from their accesses in the order of submission. A reader depends on
/// the last writer of the datum; a writer depends on the last writer and every reader since. Commuting accesses without
/// another one between them are a run: each depends on what was before the run, what follows depends on all of them.
/// They do not depend on each other: that they run one at a time is up to the graph's user.
///
/// Adding a task costs O(accesses + edges); a finished task costs O(its successors + accesses), amortised. A run of n
/// commuting accesses and m readers after it have n m edges. Only unfinished tasks are linked. Memory: live tasks and
/// their accesses, and 24 bytes for each datum. `Node` is a Task, or derived from it.
template <class Node>
class GRANARY_EXPORT BasicTaskGraph {
 public:
  /// Assigns the next submission number, links the task to its predecessors and returns it. `Task::predecessors` is 0
  /// when it may run at once.
  Node& add(AccessList accesses);

  /// Removes a task that ran or was cancelled, and calls `released(Node&)` for each task that waited for it alone, in
  /// the order of submission. Returns its accesses.
  template <class Function>
  AccessList finish(TaskId id, Function&& released) {
    Node& task = m_tasks[id];
    AccessList accesses = std::move(task.accesses);
    for (auto const& access : accesses) {
      if (!access.repeated) end_access(access);
    }
    std::uint32_t const last = task.last_successor;
    m_tasks.erase(id);
    if (last == Task::none) return accesses;
    std::uint32_t edge = std::exchange(m_links[last].next, Task::none);  // the first
    std::uint32_t const first = edge;
    while (edge != Task::none) {
      // They lie anywhere in memory: several are on their way from there before the first is changed.
      std::array<Node*, 8> successors;
      std::size_t count = 0;
      for (; edge != Task::none && count < successors.size(); ++count) {
        auto const [successor, next] = m_links[edge];
        successors[count] = &m_tasks[id_of(successor)];
        __builtin_prefetch(successors[count], 1);
        edge = next;
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (--successors[i]->predecessors == 0) released(*successors[i]);
      }
    }
    m_links[last].next = std::exchange(m_free_link, first);
    return accesses;
  }

  /// Calls `function(TaskId)` for each successor, once per datum that links them, in the order of submission.
  template <class Function>
  void for_each_successor(Task const& task, Function&& function) const {
    if (task.last_successor == Task::none) return;
    auto edge = task.last_successor;
    do {
      edge = m_links[edge].next;
      function(id_of(m_links[edge].task));
    } while (edge != task.last_successor);
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
  // Tasks that access a datum alike; some may have finished.
  struct Run {
    std::uint32_t first = Task::none;
    std::uint32_t last = Task::none;
    std::uint32_t size = 0;
  };
  struct History {
    TaskId last_writer;       // possibly finished
    Run readers;              // since then; or tasks that commute
    std::uint32_t users = 0;  // unfinished tasks that access it
  };
  // Of a datum that tasks which commute have accessed since the last writer.
  struct Shared {
    Run before;             // what the members of `readers` depend on; if it is empty, that is the last writer
    bool commutes = false;  // the members of `readers` do, and are no readers
  };
  // Finished tasks are dropped from runs of this length.
  static constexpr std::uint32_t many = 16;

  void add_edge(TaskId before, Node& after);
  void add_edges(Run const& before, Node& after);
  bool add_shared(Access const& access, Node& task, History& history);
  void end_access(Access const& access);
  void append(Run& run, TaskId task) {
    run.first = take_link(task, run.first);
    if (run.size++ == 0) run.last = run.first;
  }
  void drop_finished(Run& run);
  void forget(Run& run);
  void forget_shared(DataId data);
  [[nodiscard]] std::uint32_t take_link(TaskId task, std::uint32_t next);
  void free_link(std::uint32_t link) {
    m_links[link].next = m_free_link;
    m_free_link = link;
  }

  PagedArray<TaskId, Node> m_tasks;
  std::vector<History> m_histories;  // by datum
  std::unordered_map<DataId, Shared> m_shared;
  ChunkedArray<Link, 1024> m_links;  // of all lists; as many as the live tasks needed at their peak
  std::uint32_t m_free_link = Task::none;
  std::uint64_t m_next = 0;
};

}  // namespace detail

using TaskGraph = detail::BasicTaskGraph<Task>;

template <class Node>
Node& detail::BasicTaskGraph<Node>::add(detail::AccessList accesses) {
  TaskId const id(m_next++);
  Node& task = m_tasks.create(id);
  task.id = id;
  task.accesses = std::move(accesses);
  bool const any_shared = !m_shared.empty() || task.accesses.commutes();
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= m_histories.size()) m_histories.resize(access.data.index() + 1);
    auto& past = m_histories[access.data.index()];
    ++past.users;
    if (any_shared && add_shared(access, task, past)) continue;
    if (!writes(access.mode)) {
      add_edge(past.last_writer, task);
      if (past.readers.size >= many && past.readers.size > 2 * past.users) drop_finished(past.readers);
      append(past.readers, id);
      continue;
    }
    // Every reader since the last write depends on that write, so the write itself matters only if there is no reader.
    if (past.readers.size == 0) add_edge(past.last_writer, task);
    add_edges(past.readers, task);
    forget(past.readers);
    past.last_writer = id;
  }
  return task;
}

// The same where tasks commute, false elsewhere: readers and tasks that commute extend the present run if they are
// alike, and else begin one after it; a writer comes after all.
template <class Node>
bool detail::BasicTaskGraph<Node>::add_shared(detail::Access const& access, Node& task, History& past) {
  if (!commutes(access.mode) && !m_shared.contains(access.data)) return false;
  auto& shared = m_shared[access.data];
  bool const writes_alone = writes(access.mode) && !commutes(access.mode);
  if (past.readers.size > 0 && (writes_alone || shared.commutes != commutes(access.mode))) {
    forget(shared.before);
    shared.before = std::exchange(past.readers, {});
    past.last_writer = {};
  }
  for (auto* const run : {&shared.before, &past.readers}) {
    if (run->size >= many && run->size > 2 * past.users) drop_finished(*run);
  }
  add_edge(past.last_writer, task);
  add_edges(shared.before, task);
  if (writes_alone) {
    forget_shared(access.data);
    past.last_writer = task.id;
  } else {
    shared.commutes = commutes(access.mode);
    append(past.readers, task.id);
  }
  return true;
}

template <class Node>
std::uint32_t detail::BasicTaskGraph<Node>::take_link(TaskId task, std::uint32_t next) {
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
void detail::BasicTaskGraph<Node>::add_edge(TaskId before, Node& after) {
  if (!before.valid()) return;
  Node* const predecessor = m_tasks.find(before);
  if (predecessor == nullptr || predecessor == &after) return;  // the task itself: one that ended 2^32 tasks ago
  // The list is a ring, of which the task has the last link: new ones come last, and the first is found at once.
  auto const last = predecessor->last_successor;
  auto const link = take_link(after.id, Task::none);
  m_links[link].next = last == Task::none ? link : std::exchange(m_links[last].next, link);
  predecessor->last_successor = link;
  ++after.predecessors;
}

template <class Node>
void detail::BasicTaskGraph<Node>::add_edges(Run const& before, Node& after) {
  for (auto link = before.first; link != Task::none; link = m_links[link].next)
    add_edge(id_of(m_links[link].task), after);
}

template <class Node>
void detail::BasicTaskGraph<Node>::end_access(detail::Access const& access) {
  auto& past = m_histories[access.data.index()];
  if (--past.users > 0) return;
  forget(past.readers);
  if (!m_shared.empty()) forget_shared(access.data);
}

template <class Node>
void detail::BasicTaskGraph<Node>::drop_finished(Run& run) {
  auto link = std::exchange(run.first, Task::none);
  run.size = 0;
  while (link != Task::none) {
    auto const [task, next] = m_links[link];
    if (m_tasks.find(id_of(task)) == nullptr) {
      free_link(link);
    } else {
      m_links[link].next = std::exchange(run.first, link);
      if (run.size++ == 0) run.last = link;
    }
    link = next;
  }
}

template <class Node>
void detail::BasicTaskGraph<Node>::forget(Run& run) {
  if (run.size == 0) return;
  m_links[run.last].next = m_free_link;
  m_free_link = std::exchange(run.first, Task::none);
  run.size = 0;
}

template <class Node>
void detail::BasicTaskGraph<Node>::forget_shared(DataId data) {
  auto const found = m_shared.find(data);
  if (found == m_shared.end()) return;
  forget(found->second.before);
  m_shared.erase(found);
}

template <class Node>
void detail::BasicTaskGraph<Node>::forget(DataId data) {
  if (data.index() >= m_histories.size()) return;
  forget(m_histories[data.index()].readers);
  forget_shared(data);
  m_histories[data.index()] = {};
}

}  // namespace granary
