// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/auto/auto_tasks.hpp>
#include <granary/detail/auto/belief.hpp>
#include <granary/detail/auto/candidates.hpp>
#include <granary/detail/auto/replicas.hpp>
#include <granary/detail/auto/trials.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/policies/common/bursts.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace granary::detail {

/// Chooses the scheduler with which `auto` goes on, and when: see AutoScheduler. Trial runs are made at once or, if
/// there is a background, there; then their answer is used at the end of a task after they were made.
class AutoChoice {
 public:
  explicit AutoChoice(std::uint64_t seed, std::uint64_t tasks) : m_seed(seed), m_tasks(tasks) {}
  void attach(SystemView const& view) { m_view = &view; }
  void compute_in(MetaScheduler::Background& background) { m_background = &background; }

  /// A task was submitted.
  void submitted();
  /// A task has ended, one of `tasks` still.
  void finished(TaskId task);
  /// The scheduler with which to go on, after a task has ended; `present` if that is to stay.
  [[nodiscard]] std::string choose(AutoTasks& tasks, Candidates const& candidates, std::string const& present,
                                   Replicas const& replicas, std::uint32_t depth);

  /// True if the codelets of nearly all of these tasks were measured on a kind of worker.
  [[nodiscard]] bool measured(std::vector<TaskId> const& tasks) const;
  /// True if all workers share one memory.
  [[nodiscard]] bool one_memory() const;

  [[nodiscard]] std::string const& remark() const { return m_remark; }
  [[nodiscard]] std::uint64_t choices() const { return m_choices; }
  [[nodiscard]] std::uint64_t simulated() const { return m_simulated; }

 private:
  // Trial runs that are being made, or were.
  struct Pending {
    TrialAnswer answer;
    std::exception_ptr error;
    std::atomic<bool> made = false;
    double work = 0;         // seconds, of all tasks
    double pace = 0;         // as Belief::forget
    bool more_came = false;  // tasks, meanwhile
  };

  [[nodiscard]] bool more_come() const;
  [[nodiscard]] bool due(AutoTasks const& tasks) const;
  void look(AutoTasks& tasks, Candidates const& candidates, std::uint32_t depth);
  [[nodiscard]] std::uint64_t affordable(double work_seconds) const;
  [[nodiscard]] std::string decide(Pending& made, Candidates const& candidates, std::string const& present,
                                   Replicas const& replicas);
  [[nodiscard]] bool stays(Trial const& present, Trial const& best, Replicas const& replicas) const;
  void say(std::vector<Trial> const& trials);

  std::uint64_t m_seed;
  std::uint64_t m_tasks;  // that may be simulated in any case
  SystemView const* m_view = nullptr;
  MetaScheduler::Background* m_background = nullptr;  // null: trial runs are made at once
  std::shared_ptr<Pending> m_pending;                 // null: there are none
  Belief m_belief;
  Bursts m_bursts;
  Instant m_burst_began{};
  Instant m_last_submission{};
  std::size_t m_finished = 0;        // tasks
  std::size_t m_look_again = 0;      // too little was measured: look again when so many have finished
  bool m_chose_among_whole = false;  // the last choice compared whole runs, and no task has come since
  std::uint64_t m_choices = 0;
  std::uint64_t m_simulated = 0;  // tasks
  std::string m_remark;
};

}  // namespace granary::detail
