// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/policy/task_slots.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace granary {

/// A value for each of some tasks. A task's slot is a small number that is its own while it has a value. All operations
/// take constant time; memory is proportional to the largest number of values at one time.
///
/// ```cpp
/// granary::TaskTable<double> costs;  // of the tasks that a scheduler holds
/// costs.insert(granary::TaskId(12), 0.5);
/// assert(costs.contains(granary::TaskId(12)) && costs.at(granary::TaskId(12)) == 0.5);
/// assert(costs.take(granary::TaskId(12)) == 0.5);
/// assert(!costs.contains(granary::TaskId(12)));
/// ```
template <class T>
class TaskTable {
 public:
  static constexpr std::uint32_t none = TaskSlots::none;

  /// Returns the slot of the task, which must not have a value. References to values become invalid.
  std::uint32_t insert(TaskId task, T value) {
    auto slot = static_cast<std::uint32_t>(m_values.size());
    if (m_free.empty()) {
      m_values.push_back(std::move(value));
    } else {
      slot = m_free.back();
      m_free.pop_back();
      m_values[slot] = std::move(value);
    }
    m_slots.insert(task, slot);
    return slot;
  }
  /// Removes and returns the value of the task, which must have one.
  T take(TaskId task) {
    auto const slot = m_slots.find(task);
    m_slots.erase(task);
    m_free.push_back(slot);
    return std::move(m_values[slot]);
  }

  /// The task's slot; `none` if it has no value.
  [[nodiscard]] std::uint32_t slot(TaskId task) const { return m_slots.find(task); }
  [[nodiscard]] bool contains(TaskId task) const { return slot(task) != none; }
  /// The value of a task that has one.
  [[nodiscard]] T const& at(TaskId task) const { return m_values[slot(task)]; }
  /// The value in a slot.
  [[nodiscard]] T& operator[](std::size_t slot) { return m_values[slot]; }
  [[nodiscard]] T const& operator[](std::size_t slot) const { return m_values[slot]; }

 private:
  TaskSlots m_slots;  // into m_values
  std::vector<T> m_values;
  std::vector<std::uint32_t> m_free;
};

}  // namespace granary
