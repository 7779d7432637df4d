// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/paged_array.hpp>
#include <granary/core/model/trace.hpp>
#include <granary/core/planner/eviction_observer.hpp>
#include <granary/core/planner/planner.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Records the actions of a planner's driver. It observes the planner's commands and their results, and decides
/// nothing. Not thread-safe: the driver calls it where it calls the planner.
class TraceRecorder final : private EvictionObserver {
 public:
  /// The planner must outlive it, and must not have handled any event yet.
  TraceRecorder(Planner& planner, std::uint64_t most_events);
  ~TraceRecorder() override;
  TraceRecorder(TraceRecorder const&) = delete;
  TraceRecorder& operator=(TraceRecorder const&) = delete;

  // Call after the planner accepted the event.
  void codelet_added(Codelet const& codelet) { m_trace.codelets.push_back(codelet.name); }
  void data_added(DataId data);
  void submitted(TaskId task, TaskIndex const& index);
  // Call before the planner handles the event.
  void task_ended(TaskId task, Instant begin, Instant end, bool failed, Duration blocked = Duration{0});
  void copy_ended(TransferId transfer, Instant end, bool failed);

  /// A command that is performed at `now`.
  void performed(Command const& command, Instant now);
  /// Call after all commands that follow from an event.
  void settled(Instant now);

  /// The record of what has ended so far; Trace::end is the last event. The caller adds configuration and totals.
  /// O(events).
  [[nodiscard]] Trace const& trace() const { return m_trace; }

 private:
  void evicted(DataId data, NodeId node, EvictionReason reason, bool written_back) override;
  void performed_run(RunCommand const& run, Instant now);
  [[nodiscard]] std::uint32_t number_of(DataId data) const { return m_numbers[data.index()]; }
  // Whether one more event can be kept; counts it if not.
  [[nodiscard]] bool has_room();

  Planner& m_planner;
  std::uint64_t m_most_events;
  std::uint64_t m_events = 0;
  Trace m_trace;
  std::vector<std::uint32_t> m_numbers;                            // by datum: its index in Trace::data
  PagedArray<TaskId, TraceTask> m_tasks;                           // live ones
  std::unordered_map<TransferId, TraceTransfer> m_transfers = {};  // in flight
  std::vector<Bytes> m_used;                                       // by node, as recorded last
  bool m_memory_changed = false;
};

}  // namespace granary

#pragma GCC visibility pop
