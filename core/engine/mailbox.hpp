// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/bell.hpp>
#include <granary/detail/core/engine/planner_lock.hpp>
#include <granary/detail/core/planner/event.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace granary::detail {

/// The reports of threads to an engine: events, and results that wait in lanes. The next thread that takes the
/// planner's lock applies all of them (flat combining: Hendler, Incze, Shavit, Tzafrir 2010).
class Mailbox {
 public:
  /// `drain` applies what is pending, unless another thread holds the planner's lock: that one looks here again after
  /// it has released it. `spin`: how long a thread without work spins before it sleeps.
  Mailbox(std::function<void()> drain, Duration spin) : m_drain(std::move(drain)), m_spin(spin) {}

  void post(Event event) {
    {
      std::lock_guard const lock(m_mutex);
      m_events.push_back(std::move(event));
    }
    announce(1);
  }
  /// Posts the end of the run if the error says that a device is lost: no work for it can be done, and its memory's
  /// content is gone. Any other error concerns only its task or copy.
  void post_if_lost(std::exception_ptr const& error) {
    if (is_device_lost(error)) post(CancelAll{error});
  }
  /// Results in a lane.
  void announce(std::uint32_t results) { m_pending.fetch_add(results); }
  void drain() const { m_drain(); }

  /// True if something waits to be applied. Sequentially consistent: ordered against the planner's lock.
  [[nodiscard]] bool pending() const { return m_pending.load() != 0; }
  /// The same, perhaps a moment late.
  [[nodiscard]] bool seems_pending() const { return m_pending.load(std::memory_order_relaxed) != 0; }

  /// While an object lives, a thread needs results as soon as they exist: it sleeps, or will sleep, until one arrives.
  /// The next holder of the planner's lock then applies the results of all lanes, and workers announce each result at
  /// once instead of after their next kernel.
  class Waiting {
   public:
    explicit Waiting(Mailbox& mailbox) : m_mailbox(mailbox) {
      m_mailbox.m_waiting.fetch_add(1);
      m_mailbox.announce(1);
    }
    ~Waiting() { m_mailbox.m_waiting.fetch_sub(1); }
    Waiting(Waiting const&) = delete;
    Waiting& operator=(Waiting const&) = delete;

   private:
    Mailbox& m_mailbox;
  };
  /// Sequentially consistent: ordered against the publication of results.
  [[nodiscard]] bool someone_waits() const { return m_waiting.load() > 0; }

  /// Under the planner's lock, by a caller.
  void count_call() { m_calls.store(m_calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// True if callers have held the planner's lock since `calls` was last updated, perhaps a moment late; updates
  /// `calls`.
  [[nodiscard]] bool called_since(std::uint32_t& calls) const {
    auto const now = m_calls.load(std::memory_order_relaxed);
    return std::exchange(calls, now) != now;
  }

  /// Under the planner's lock, before the lanes' results and the events are looked at.
  void count_as_applied() { m_pending.store(0); }
  /// Under the planner's lock: all posted events, oldest first, until the next call.
  [[nodiscard]] std::vector<Event>& take() {
    m_taken.clear();
    std::lock_guard const lock(m_mutex);
    std::swap(m_events, m_taken);
    return m_taken;
  }

  [[nodiscard]] Duration spin() const { return m_spin; }
  /// Spins, then sleeps at the bell, until `met()`; whoever makes it true rings the bell. A spinning thread applies
  /// what others reported, but not while callers come and go: they do it, and the planner's data stay on their core.
  /// Before it sleeps it also applies results that no worker has announced, and calls `last_attempt`.
  template <class Condition>
  void wait(Bell& bell, Condition&& met, std::function<void()> const& last_attempt = {}) {
    auto const give_up = std::chrono::steady_clock::now() + m_spin;
    for (std::uint32_t calls = 0;;) {
      for (int polls = 0; polls < 32; ++polls) {
        if (met()) return;
        spin_pause();
      }
      bool const callers_come = called_since(calls);
      if (seems_pending()) {
        if (callers_come) continue;
        drain();
      }
      if (std::chrono::steady_clock::now() < give_up) continue;
      Waiting const waiting(*this);
      drain();
      if (last_attempt && !met()) last_attempt();
      bell.sleeping.store(1);
      if (!met()) {
        detail::Working::Rest const rest;
        bell.sleeping.wait(1);
      }
      bell.sleeping.store(0);
    }
  }

 private:
  std::function<void()> const m_drain;
  Duration const m_spin;
  alignas(64) std::atomic<std::uint32_t> m_pending = 0;  // announced and not applied
  std::atomic<std::uint32_t> m_calls = 0;
  std::atomic<std::uint32_t> m_waiting = 0;
  alignas(64) std::mutex m_mutex;
  std::vector<Event> m_events;
  std::vector<Event> m_taken;
};

}  // namespace granary::detail
