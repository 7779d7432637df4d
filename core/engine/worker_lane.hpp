// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/bell.hpp>
#include <granary/detail/core/engine/kept_bytes.hpp>
#include <granary/detail/core/engine/spsc_ring.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/parameters.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace granary::detail {

class InnerPool;

/// The sizes and results of varying data for a kernel, by access; empty if the task has none. See KernelCall.
struct GRANARY_EXPORT VaryingData {
  std::vector<Bytes> bytes;
  std::vector<KernelResult> results;
  std::vector<Bytes> result_bytes;

  void resize(std::size_t accesses) {
    bytes.resize(accesses);
    results.assign(accesses, {});
    result_bytes.assign(accesses, 0);
  }
  void clear() {
    bytes.clear();
    results.clear();
    result_bytes.clear();
  }
};

/// A task as it is handed to a worker, with everything that its kernel needs.
class GRANARY_EXPORT LaneEntry {
 public:
  TaskId task;
  Codelet const* codelet = nullptr;      ///< valid as long as the planner
  Kernel kernel = nullptr;               ///< the codelet's for the worker
  AccessList const* accesses = nullptr;  ///< valid as long as the task
  Parameters* parameters = nullptr;
  bool follows = false;         ///< as in RunCommand
  bool skipped = false;         ///< not launched, because the kernel that it follows failed
  std::exception_ptr refused;   ///< why a launching lane did not launch it
  std::vector<KeptBytes> kept;  ///< what it overwrites and is kept meanwhile
  VaryingData varying;

  /// Called by the thread that hands it over, before the worker sees it.
  void offer() { m_state.store(State::Waits, std::memory_order_relaxed); }
  /// Its worker starts it, or whoever handed it over recalls it: one of them succeeds.
  [[nodiscard]] bool start() { return leave_waiting(State::Begun); }
  [[nodiscard]] bool recall() { return leave_waiting(State::Recalled); }
  [[nodiscard]] bool recalled() const { return m_state.load(std::memory_order_relaxed) == State::Recalled; }

  /// Room for the addresses of `count` accesses; none has a pitch.
  [[nodiscard]] std::span<std::byte*> addresses(std::size_t count) {
    m_count = count;
    m_has_pitches = false;
    if (count > m_inline.size() && m_many.size() < count) m_many.resize(count);
    return {data(), count};
  }
  [[nodiscard]] std::span<std::byte* const> addresses() { return {data(), m_count}; }

  /// Sets the distance between the lines of that access's datum.
  void set_pitch(std::size_t access, Bytes pitch) {
    if (!std::exchange(m_has_pitches, true)) m_pitches.assign(m_count, 0);
    m_pitches[access] = pitch;
  }
  /// As in KernelCall.
  [[nodiscard]] std::span<Bytes const> pitches() const {
    return m_has_pitches ? std::span<Bytes const>(m_pitches) : std::span<Bytes const>();
  }

 private:
  enum class State : std::uint8_t { Begun, Waits, Recalled };

  bool leave_waiting(State next) {
    auto waits = State::Waits;
    return m_state.compare_exchange_strong(waits, next);
  }
  [[nodiscard]] std::byte** data() { return m_count > m_inline.size() ? m_many.data() : m_inline.data(); }

  std::atomic<State> m_state = State::Begun;
  std::size_t m_count = 0;
  std::array<std::byte*, 6> m_inline{};
  std::vector<std::byte*> m_many;
  bool m_has_pitches = false;
  std::vector<Bytes> m_pitches;
};

/// The size of a value that a kernel has left, and the size of its place.
struct GRANARY_EXPORT MadeBytes {
  DataId data;
  Bytes bytes = 0;
  Bytes room = 0;
};

/// A worker's result.
struct GRANARY_EXPORT TaskEnd {
  TaskId task;
  Duration duration{0};      ///< of its kernels, on all workers
  std::exception_ptr error;  ///< null: it ran or was skipped
  Duration blocked{0};       ///< before `begin`, as in TraceTask
  std::chrono::steady_clock::time_point begin = {};
  std::chrono::steady_clock::time_point end = {};
  bool skipped = false;              ///< because the kernel that it follows failed
  bool stopped = false;              ///< as an AbortCommand asked
  bool changed = false;              ///< as in TaskReturned
  std::vector<MadeBytes> made = {};  ///< of varying data

  /// A value that is larger than its place; null: there is none.
  [[nodiscard]] MadeBytes const* beyond_its_room() const {
    auto const found = std::ranges::find_if(made, [](MadeBytes const& one) { return one.bytes > one.room; });
    return found != made.end() ? &*found : nullptr;
  }
  /// Notes the sizes of the varying data that the kernel has written: `result_bytes`, by access; the list may be
  /// shorter than that of the accesses.
  void count_made(LaneEntry const& entry, std::span<Bytes const> result_bytes) {
    for (std::size_t i = 0; i < std::min(entry.varying.results.size(), result_bytes.size()); ++i) {
      auto const& result = entry.varying.results[i];
      if (result.data != nullptr) made.push_back({(*entry.accesses)[i].data, result_bytes[i], result.room});
    }
  }
};

/// One worker's lane: its tasks, its results, and the bell of the thread that serves it, which is its own thread or the
/// driver of several lanes.
struct GRANARY_EXPORT WorkerLane {
  /// For at most `capacity` tasks, beside as many that were recalled and not passed over yet.
  WorkerLane(WorkerId worker, Bell& thread_bell, std::size_t capacity)
      : id(worker), bell(thread_bell), incoming(2 * capacity), finished(capacity), m_capacity(capacity) {}

  WorkerId id;
  Bell& bell;
  SpscRing<LaneEntry> incoming;  // from whoever holds the planner's lock to the worker
  SpscRing<TaskEnd> finished;    // back

  InnerPool* inner = nullptr;  // of its group; null if tasks are not expanded
  StopRequest stop;            // the task from whoever holds the planner's lock, the rest from the worker

  // Written by its thread, read by any.
  alignas(64) std::atomic<std::int64_t> busy_nanoseconds = 0;
  std::atomic<std::int64_t> blocked_nanoseconds = 0;
  std::atomic<std::uint64_t> tasks = 0;
  std::atomic<std::uint64_t> inner_tasks = 0;
  std::atomic<std::uint64_t> expanded = 0;
  std::atomic<std::size_t> passed_over = 0;  // recalled tasks

  // Under the planner's lock.
  alignas(64) bool touched = false;
  std::size_t outstanding = 0;  // handed over, result pending

  /// Under the planner's lock: recalls the last task that was handed over and that its worker has not started. Returns
  /// an invalid id if there is none, or if the task was stopped: that has a reply of its own. O(recalled tasks).
  [[nodiscard]] TaskId recall_last() {
    auto const in_ring = outstanding + m_recalled - passed_over.load(std::memory_order_relaxed);
    if (in_ring >= outstanding + m_capacity) return {};
    for (std::size_t before = 1; before <= in_ring; ++before) {
      auto& entry = incoming.staged(before);
      if (entry.recalled()) continue;
      if (stop.task.load(std::memory_order_relaxed) == entry.task.value() || !entry.recall()) return {};
      ++m_recalled;
      --outstanding;
      return entry.task;
    }
    return {};
  }
  /// The worker calls this: starts the first task of `incoming` that was not recalled, and removes those before it.
  /// Null if there is none.
  [[nodiscard]] LaneEntry* start_next() {
    while (auto* const entry = incoming.front()) {
      if (entry->start()) return entry;
      incoming.pop();
      add(passed_over, 1);
    }
    return nullptr;
  }

  /// Worker: adds the time of a kernel, and the time that it was blocked before it.
  void count_busy(Duration duration, Duration blocked = Duration{0}) {
    add(busy_nanoseconds, duration.count());
    if (blocked != Duration{0}) add(blocked_nanoseconds, blocked.count());
  }
  /// Worker: the task at the front of `incoming` ended as the next element of `finished` says.
  void pass_on() {
    bool const ran = !finished.next().stopped;
    incoming.pop();
    finished.stage();
    finished.publish();
    if (ran) add(tasks, 1);
  }
  /// Worker: adds to one of its own counters.
  template <class Count, class Number>
  static void add(std::atomic<Count>& counter, Number number) {
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<Count>(number), std::memory_order_relaxed);
  }

 private:
  std::size_t const m_capacity;
  std::size_t m_recalled = 0;  // under the planner's lock
};

/// A thread that serves lanes: a host worker's own, or the driver of lanes that launch.
struct GRANARY_EXPORT LaneThread {
  Bell bell;
  std::vector<WorkerLane*> lanes;
  std::thread thread;
};

}  // namespace granary::detail
