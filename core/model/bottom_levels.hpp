// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/access.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// Where the tasks behind the present one, from the last to the first, access a datum: the largest bottom levels of
/// those that would wait for it.
class LevelsBehind {
 public:
  /// Of the tasks that wait for one with this access.
  [[nodiscard]] std::int64_t below(AccessMode mode) const {
    if (!writes(mode)) return m_writer;
    return commutes(mode) && m_run ? m_behind_run : std::max(m_readers, m_writer);
  }
  /// A task with this access and level comes before all others.
  void add(AccessMode mode, std::int64_t level) {
    if (!writes(mode)) {
      m_readers = std::max(m_readers, level);
      m_run = false;
      return;
    }
    bool const joins = commutes(mode) && m_run;
    m_behind_run = joins ? m_behind_run : std::max(m_readers, m_writer);
    m_writer = joins ? std::max(m_writer, level) : level;
    m_readers = 0;
    m_run = commutes(mode);
  }

 private:
  std::int64_t m_readers = 0;     // before the next writer
  std::int64_t m_writer = 0;      // the next writer, or run of commuting tasks
  std::int64_t m_behind_run = 0;  // what waits for this run
  bool m_run = false;             // the next access commutes
};

/// The bottom level of each of `tasks` tasks in nanoseconds: the time from its start to the end of the graph on an
/// unbounded machine (DARTS, section 6.1). `accesses(n)` is a range of the n-th task's accesses, each datum once or
/// `repeated`; `time(n)` is its Duration. O(accesses), and 32 bytes for each datum: no graph is built.
template <class Accesses, class Time>
[[nodiscard]] std::vector<std::int64_t> bottom_levels(std::size_t tasks, Accesses&& accesses, Time&& time) {
  std::vector<std::int64_t> levels(tasks);
  std::vector<LevelsBehind> behind;  // by datum
  for (std::size_t i = tasks; i-- > 0;) {
    auto const& of_task = accesses(i);
    std::int64_t below = 0;
    for (Access const& access : of_task) {
      if (access.data.index() >= behind.size()) behind.resize(access.data.index() + 1);
      if (!access.repeated) below = std::max(below, behind[access.data.index()].below(access.mode));
    }
    levels[i] = below + time(i).count();
    for (Access const& access : of_task) {
      if (!access.repeated) behind[access.data.index()].add(access.mode, levels[i]);
    }
  }
  return levels;
}

}  // namespace granary::detail
