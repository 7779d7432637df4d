// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/dispatch/live_task.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// Memory that submitted tasks have booked, and whether their submitter sleeps therefore (Memory, IV-A). Passive: it is
/// told of tasks and data, and drivers ask whether the submitter sleeps now.
///
/// S: the submitted tasks of this process that have not ended; stubs of other processes' tasks (Codelet::stub) and
/// handovers do not count. B, the booked bytes, is a sum over
/// - data without a home that no storage can take from the host, since a task that writes them was submitted, until
///   they are forgotten or lost their value;
/// - values of other processes that a task of S reads (Memory, IV-B); with BookingOptions::Policy::Paper from then
///   on until they are forgotten.
/// The submitter sleeps when a task of S, or a datum that grew, has increased B so that the next task could take F B
/// above SLEEP, or when S has as many tasks as it may have. It wakes if F B <= WAKEUP and S is small, or if S is empty:
/// then nothing else could free what is booked. F, at least 1, accounts for gaps in the host's memory that are too
/// small for any datum. The next task is taken to add as much as the one that has added most.
///
/// A task costs O(its accesses) at submission and at its end.
class GRANARY_EXPORT Booking {
 public:
  /// Throws InvalidArgument if WAKEUP is above SLEEP.
  Booking(PlannerContext& context, BookingOptions const& options, Movement const& movement);

  /// The task, whose accesses were announced, is live now.
  void submitted(LiveTask const& task) {
    if (m_books_data) return book(task);
    if (is_own(task) && ++m_own >= m_most_tasks) sleep_if_necessary(false);
  }
  /// Its uses of data have ended.
  void ended(LiveTask const& task) {
    auto const before = m_context.statistics.booking.booked;
    if (m_books_data) update(task.accesses);
    if (is_own(task)) --m_own;
    if (task.varies) sleep_if_necessary(m_context.statistics.booking.booked > before);
    if (m_asleep) wake_if_possible();
  }
  void forgotten(DataId data);
  /// It got a value without a task.
  void changed(DataId data);
  /// Failures may have taken values.
  void failures_reported();

  /// True if the submitter sleeps now, and no further task should come.
  [[nodiscard]] bool asleep() const { return m_asleep; }
  /// The size of S.
  [[nodiscard]] std::uint64_t own_tasks() const { return m_own; }
  /// SLEEP in bytes; by default the host's memory without its reserve and the largest footprint of a task so far: that
  /// is room for the next one, too.
  [[nodiscard]] Bytes sleep() const;
  /// WAKEUP in bytes; by default 0.9 SLEEP.
  [[nodiscard]] Bytes wakeup() const;

  // For tests of invariants.
  /// The bytes booked for the datum; the bytes that its state requires.
  [[nodiscard]] Bytes booked(DataId data) const { return data.index() < m_booked.size() ? m_booked[data.index()] : 0; }
  [[nodiscard]] Bytes demanded(DataId data, Datum const& datum) const {
    return datum.bound > 0 && books(data, datum) ? booked_bytes(datum) : 0;
  }
  [[nodiscard]] bool is_own(LiveTask const& task) const { return !task.external() || is_own_outside(task); }

 private:
  [[nodiscard]] bool books(DataId data, Datum const& datum) const;
  [[nodiscard]] Bytes booked_bytes(Datum const& datum) const;
  // Data with storage below the host are never booked.
  [[nodiscard]] bool may_book(Datum const& datum) const {
    return datum.home.valid() ? datum.home == m_others : m_keeps_temporaries;
  }
  [[nodiscard]] bool is_own_outside(LiveTask const& task) const;
  void book(LiveTask const& task);
  Bytes update(AccessList const& accesses);
  void note_size(AccessList const& accesses, Bytes bytes);
  [[nodiscard]] Bytes sleep_before_next() const;
  [[nodiscard]] bool exceeds(Bytes limit) const;
  void update(DataId data, Datum const& datum);
  void sleep_if_necessary(bool grew);
  void wake_if_possible();

  PlannerContext& m_context;
  Movement const& m_movement;
  BookingOptions m_options;
  NodeId m_others;                   // the node of the other processes
  NodeId m_host;                     // where the data lie: the send node, or the first node of the host
  std::vector<NodeId> m_hosts;       // all of it that have a limit
  bool m_limited = false;            // the memory of m_host is
  bool m_keeps_temporaries = false;  // no storage takes them from m_host
  bool m_books_data = false;         // there may be such, or values of other processes
  std::vector<Bytes> m_booked;       // by datum
  Bytes m_most_added = 0;            // by a task at its submission
  Bytes m_largest = 0;               // footprint
  Bytes m_largest_bytes = 0;         // of a task's data, not rounded, wherever they are
  std::uint64_t m_own = 0;
  std::uint64_t m_most_tasks;  // of these; the largest number if there is no limit
  bool m_asleep = false;
};

}  // namespace granary::detail
