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

/// Writes down what a planner's driver does, for either driver. It sees the planner's commands and what came of them,
/// and decides nothing. Not thread-safe: the driver calls it where it calls the planner.
class TraceRecorder final : private EvictionObserver {
 public:
  /// The planner must outlive it, and must not have been told anything yet.
  TraceRecorder(Planner& planner, std::uint64_t most_events);
  ~TraceRecorder() override;
  TraceRecorder(TraceRecorder const&) = delete;
  TraceRecorder& operator=(TraceRecorder const&) = delete;

  // After the planner took the event.
  void codelet_added(Codelet const& codelet) { m_trace.codelets.push_back(codelet.name); }
  void data_added(DataId data);
  void submitted(TaskId task, TaskIndex const& index);
  // Before the planner is told.
  void task_ended(TaskId task, Instant begin, Instant end, bool failed, Duration blocked = Duration{0});
  void copy_ended(TransferId transfer, Instant end, bool failed);

  /// A command that is performed at `now`.
  void performed(Command const& command, Instant now);
  /// After all commands that followed from an event.
  void settled(Instant now);

  /// Everything that has ended so far; it ends with the last thing that happened. Configuration and totals are left to
  /// the caller. O(events).
  [[nodiscard]] Trace const& trace() const { return m_trace; }

 private:
  void evicted(DataId data, NodeId node, EvictionReason reason, bool written_back) override;
  void performed_run(RunCommand const& run, Instant now);
  [[nodiscard]] std::uint32_t number_of(DataId data) const { return m_numbers[data.index()]; }
  // Whether one more event may be kept; counts it if not.
  [[nodiscard]] bool has_room();

  Planner& m_planner;
  std::uint64_t m_most_events;
  std::uint64_t m_events = 0;
  Trace m_trace;
  std::vector<std::uint32_t> m_numbers;                            // by datum: its place in Trace::data
  PagedArray<TaskId, TraceTask> m_tasks;                           // live ones
  std::unordered_map<TransferId, TraceTransfer> m_transfers = {};  // in flight
  std::vector<Bytes> m_used;                                       // by node, as recorded last
  bool m_memory_changed = false;
};

}  // namespace granary

#pragma GCC visibility pop
