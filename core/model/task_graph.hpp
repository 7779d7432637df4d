// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/paged_array.hpp>
#include <granary/core/model/task.hpp>

#include <cstdint>
#include <deque>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The live tasks and the dependencies that follow from their accesses in the order of submission. A reader depends on
/// the last writer of the datum; a writer depends on the last writer and every reader since.
///
/// Adding a task costs O(accesses + edges); a finished task costs O(its successors + accesses), amortised. Only
/// unfinished tasks are linked. Memory: live tasks and their accesses, and 24 bytes for each datum.
class TaskGraph {
 public:
  /// Assigns the next submission number, links the task to its predecessors and returns it. `Task::predecessors` is 0
  /// when it may run at once.
  Task& add(AccessList accesses);

  /// Removes a task that ran or was cancelled, and calls `released(Task&)` for each task that waited for it alone.
  template <class Function>
  void finish(TaskId id, Function&& released) {
    Task& task = m_tasks[id];
    for (auto const& access : task.accesses) {
      if (!access.repeated) end_access(access);
    }
    std::uint32_t edge = task.first_successor;
    m_tasks.erase(id);
    while (edge != Task::none) {
      auto const [successor, next] = m_links[edge];
      TaskId const after = id_of(successor);
      free_link(edge);
      edge = next;
      Task& waiting = m_tasks[after];
      if (--waiting.predecessors == 0) released(waiting);
    }
  }

  /// Calls `function(TaskId)` for each successor, once per datum that links them.
  template <class Function>
  void for_each_successor(Task const& task, Function&& function) const {
    for (auto edge = task.first_successor; edge != Task::none; edge = m_links[edge].next)
      function(id_of(m_links[edge].task));
  }

  [[nodiscard]] Task& operator[](TaskId id) { return m_tasks[id]; }
  [[nodiscard]] Task const& operator[](TaskId id) const { return m_tasks[id]; }
  [[nodiscard]] Task const* find(TaskId id) const { return m_tasks.find(id); }
  [[nodiscard]] std::size_t size() const { return m_tasks.size(); }
  /// The number of tasks ever added.
  [[nodiscard]] std::uint64_t submitted() const { return m_next; }
  /// The number of unfinished tasks that access the datum, and of those that write it.
  [[nodiscard]] std::uint32_t pending_tasks(DataId data) const { return history(data).pending; }
  [[nodiscard]] std::uint32_t pending_writers(DataId data) const { return history(data).pending_writers; }
  /// Removes a datum that no unfinished task accesses.
  void forget(DataId data);

  template <class Function>
  void for_each(Function&& function) {
    m_tasks.for_each([&](TaskId, Task& task) { function(task); });
  }
  template <class Function>
  void for_each(Function&& function) const {
    m_tasks.for_each([&](TaskId, Task const& task) { function(task); });
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
    std::uint32_t readers = 0;                // in that list
    std::uint32_t pending = 0;
    std::uint32_t pending_writers = 0;
  };
  // Finished readers are dropped from lists of this length.
  static constexpr std::uint32_t many_readers = 16;

  [[nodiscard]] History const& history(DataId data) const;
  void add_edge(TaskId before, Task& after);
  void end_access(Access const& access);
  void drop_finished_readers(History& history);
  void forget_readers(History& history);
  [[nodiscard]] std::uint32_t take_link(TaskId task, std::uint32_t next);
  void free_link(std::uint32_t link) {
    m_links[link].next = m_free_link;
    m_free_link = link;
  }

  PagedArray<TaskId, Task> m_tasks;
  std::vector<History> m_histories;  // by datum
  std::deque<Link> m_links;          // of all lists; as many as the live tasks needed at their peak
  std::uint32_t m_free_link = Task::none;
  std::uint64_t m_next = 0;
};

}  // namespace granary

#pragma GCC visibility pop
