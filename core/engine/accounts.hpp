// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lanes.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/planner/planner.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace granary::detail {

/// An engine's clock, and what its statistics say beside the planner's. Under the planner's lock, except for the clock.
class Accounts {
 public:
  using Clock = std::chrono::steady_clock;

  /// The measurement of one hold of the planner's lock.
  struct Hold {
    Clock::time_point since{};
    std::uint32_t stands_for = 0;  // so many holds; 0: it is not measured
  };

  explicit Accounts(Machine const& machine);

  /// Since the engine started.
  [[nodiscard]] Instant since_start(Clock::time_point when) const { return Instant(when - m_start); }
  [[nodiscard]] Instant now() const { return since_start(Clock::now()); }

  /// The lock was taken: by a caller, one in 16 of whom is measured, or to apply what threads reported.
  [[nodiscard]] Hold caller_enters();
  [[nodiscard]] static Hold drain_begins() { return {Clock::now(), 1}; }
  /// The lock is about to be released.
  void leave(Hold const& hold, Planner const& planner, Lanes const& lanes, std::size_t active_copies);

  /// The planner accepted the task.
  void submitted(TaskSubmission const& submission, Planner const& planner);
  /// Writes all members but `workers` and `submission_slept`.
  void fill(EngineStatistics& statistics, Planner const& planner) const;

 private:
  void note_device_need(TaskSubmission const& submission, Planner const& planner);

  Clock::time_point const m_start = Clock::now();
  std::uint32_t m_callers = 0;
  Duration m_decided{0};
  std::uint32_t m_idle_for_data = 0;  // workers, since m_accounted
  Clock::time_point m_accounted{};
  Duration m_waited{0};
  bool m_prioritised = false;  // some task had a priority
  NodeId m_unfit_device;       // the one with the largest memory, until a task fits it
  Bytes m_device_need = 0;     // of the largest task meanwhile
};

}  // namespace granary::detail
