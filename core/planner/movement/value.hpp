// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <algorithm>
#include <cstdint>

namespace granary::detail {

/// The state of a datum's value, as far as the tasks that write it have ended, and the failure that took it.
class GRANARY_EXPORT Value {
 public:
  enum class State : std::uint8_t {
    None,      ///< no origin, and no task has written it
    Current,   ///< some replica holds it, or a task overwrites it now
    Stale,     ///< a task that would have written it was cancelled; tasks that read it are cancelled, too
    Poisoned,  ///< a failure left the datum without a value; tasks that read it are cancelled
    Reported,  ///< the same, and the failure was reported: new tasks that read it are refused
  };
  static constexpr std::uint32_t no_cause = 0xffffffffU;

  Value() = default;
  /// Of a datum that has an origin, or none.
  explicit Value(bool given) : m_state(given ? State::Current : State::None), m_made(given) {}

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] bool lost() const { return m_state == State::Poisoned || m_state == State::Reported; }
  /// True if tasks that read the datum may run, as far as its past is concerned.
  [[nodiscard]] bool readable() const { return m_state == State::None || m_state == State::Current; }
  /// True if a task that reads the datum may be submitted although no unfinished task writes it.
  [[nodiscard]] bool may_be_read() const { return m_state != State::None && m_state != State::Reported; }
  /// The index of the unreported failure that took the value or made it stale, or no_cause.
  [[nodiscard]] std::uint32_t cause() const { return m_cause; }

  /// True if there is a value that no failure took, current or stale.
  [[nodiscard]] bool made() const { return m_made; }

  /// From now on a stale value is lost when the failure is reported, instead of being current again.
  void keep_no_old() { m_keeps_old = false; }

  /// A task wrote it.
  void write() {
    m_state = State::Current;
    m_made = true;
    m_cause = no_cause;
  }
  /// One of several tasks that commute did. It stays stale if another of them was cancelled meanwhile.
  void change() {
    if (readable()) write();
  }
  /// A task that was cancelled would have written it.
  void skip_write(std::uint32_t cause) {
    m_state = lost() ? State::Poisoned : State::Stale;
    m_cause = std::min(m_cause, cause);
  }
  /// A failure took it; returns whether it was not lost by the same failure already.
  bool lose(std::uint32_t cause) {
    bool const known = lost() && m_cause == cause;
    m_state = State::Poisoned;
    m_made = false;
    m_cause = cause;
    return !known;
  }
  /// All failures were reported; `anywhere`: some replica holds a value.
  void report(bool anywhere) {
    if (m_state == State::Stale && !m_keeps_old) {
      m_state = State::Poisoned;
      m_made = false;
    }
    if (m_state == State::Stale) m_state = anywhere ? State::Current : State::None;
    if (m_state == State::Poisoned) m_state = State::Reported;
    m_cause = no_cause;
  }

 private:
  State m_state = State::None;
  bool m_made = false;
  bool m_keeps_old = true;
  std::uint32_t m_cause = no_cause;
};

/// The state of the write-back of a value to its datum's home, for a flush or the datum's release.
class GRANARY_EXPORT WayHome {
 public:
  enum class State : std::uint8_t {
    No,
    Going,
    Failed,  ///< a write-back failed: not tried again before failures were reported
    Lost,    ///< the same, and a lost device holds the value
  };

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] bool going() const { return m_state == State::Going; }
  [[nodiscard]] bool failed() const { return m_state == State::Failed || m_state == State::Lost; }
  /// The lost device; invalid unless the state is Lost.
  [[nodiscard]] NodeId lost_on() const { return m_lost_on; }

  /// Nothing after a failure.
  void set_going(bool going) {
    if (!failed()) m_state = going ? State::Going : State::No;
  }
  /// `lost_on`: the device whose loss is the reason, or invalid.
  void fail(NodeId lost_on) {
    if (lost_on.valid()) m_lost_on = lost_on;
    m_state = m_lost_on.valid() ? State::Lost : State::Failed;
  }
  /// The failure was reported.
  void report() {
    if (failed()) m_state = State::No;
    m_lost_on = {};
  }

 private:
  State m_state = State::No;
  NodeId m_lost_on;
};

}  // namespace granary::detail
