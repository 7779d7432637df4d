// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/paged_array.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/core/planner/observer.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// Records what a planner's driver did; decides nothing.
class GRANARY_EXPORT TraceRecorder final : public PlannerObserver {
 public:
  /// Keeps at most `most_events` of them. Attach it before the planner handles any event.
  TraceRecorder(Machine const& machine, std::uint64_t most_events);

  /// The record of what has ended so far; Trace::end is the last event. The caller adds configuration and totals.
  /// O(events).
  [[nodiscard]] Trace const& trace() const { return m_trace; }

 private:
  void handled(Event const& event, NewIds ids) override;
  void performed(Command const& command) override;
  void noticed(Notice const& notice) override;

  enum class How : std::uint8_t { Ran, Failed, Stopped };
  // The last change of a level; its record in the trace is `most_events` if there was no room for it.
  struct LastChange {
    Instant when = Instant::min();
    std::uint64_t record = 0;
  };

  void made(DataId data, Bytes bytes);
  void added(DataId data, DataDescription const& description);
  void submitted(TaskId task, TaskIndex const& index);
  void given(RunCommand const& run);
  void task_ended(TaskId task, TaskTimes const& times, How how);
  void copy_ended(TransferId transfer, Instant end, bool failed);
  void evicted(Evicted const& eviction);
  void memory_changed(NodeId node);
  void booked(Booked const& booked);
  template <class Level>
  void changed(LastChange& last, std::vector<Level>& levels, Level const& level);
  [[nodiscard]] std::uint32_t number_of(DataId data) const { return m_numbers[data.index()]; }
  // True if one more event can be kept; counts it as dropped if not.
  [[nodiscard]] bool has_room();

  std::uint64_t m_most_events;
  std::uint64_t m_events = 0;
  Trace m_trace;
  std::vector<std::uint32_t> m_numbers;                            // by datum: its index in Trace::data
  PagedArray<TaskId, TraceTask> m_tasks;                           // live ones
  std::unordered_map<TransferId, TraceTransfer> m_transfers = {};  // in flight
  std::vector<LastChange> m_last_memory;                           // by node
  LastChange m_last_booked;
};

}  // namespace granary::detail
