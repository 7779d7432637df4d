// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/observer.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace granary::app {

/// Quotes the text if CSV requires it.
[[nodiscard]] std::string csv_field(std::string const& text);

/// The tasks of a run in the order in which they started; also runs of them that were stopped.
class OrderTrace final : public detail::PlannerObserver {
 public:
  /// CSV with a header line. Row and column locate the tile that the task writes, by its position or its name; they are
  /// empty if it has none. The iteration is the number of earlier tasks that wrote the datum. The last column is 1 for
  /// a run that was stopped, in which case the task ran again.
  [[nodiscard]] std::string to_csv(detail::Machine const& machine);

 private:
  void handled(detail::Event const& event, detail::NewIds ids) override;
  void performed(detail::Command const& command) override;
  struct Entry {
    TaskId task;
    std::string codelet;
    std::string row{};
    std::string column{};
    std::uint32_t iteration = 0;
    detail::WorkerId worker;
    detail::Instant start{};
    detail::Instant end{};
    bool stopped = false;
  };

  void ended(TaskId task, detail::TaskTimes const& times);
  Entry& add(Entry entry, detail::TaskTimes const& times);

  std::vector<Entry> m_entries;         // of runs that have ended
  std::map<TaskId, Entry> m_running;    // and of tasks that were handed to a worker and have not ended
  std::vector<std::uint32_t> m_writes;  // by datum
};

}  // namespace granary::app
