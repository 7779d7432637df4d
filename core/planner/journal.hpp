// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/core/planner/command.hpp>
#include <granary/detail/core/planner/event.hpp>
#include <granary/detail/core/planner/observer.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace granary::detail {

/// The events of a planner and its commands in a run: a new planner that handles the same events gives the same
/// commands. Measured durations are part of the events, so an estimator with the same initial state learns the same.
class GRANARY_EXPORT Journal final : public PlannerObserver {
 public:
  struct Entry {
    Instant when;  ///< since the run started; tell the planner before the event
    Event event;
    std::size_t commands_end = 0;  ///< the number of commands after it
  };

  /// `initial`: a copy of the estimator as the run begins. Null: a new estimator of the same class is the same.
  explicit Journal(std::shared_ptr<Estimator const> initial = nullptr) : m_estimator(std::move(initial)) {}
  Journal(Journal const&) = delete;
  Journal& operator=(Journal const&) = delete;

  /// Valid as long as the journal, of which the events borrow their lists.
  [[nodiscard]] std::vector<Entry> const& entries() const { return m_entries; }
  /// The commands that were performed.
  [[nodiscard]] std::vector<Command> const& commands() const { return m_commands; }
  /// Replay with a copy of it, if it is not null.
  [[nodiscard]] Estimator const* estimator() const { return m_estimator.get(); }

 private:
  void handled(Event const& event, NewIds ids) override;
  void performed(Command const& command) override { m_commands.push_back(command); }

  std::shared_ptr<Estimator const> m_estimator;
  std::vector<Entry> m_entries;
  std::vector<Command> m_commands;
  std::deque<std::vector<Access>> m_accesses;    // of the submissions
  std::deque<std::vector<FixedPlace>> m_places;  // of the data
  std::deque<std::vector<SharedBytes>> m_shares;
};

}  // namespace granary::detail
