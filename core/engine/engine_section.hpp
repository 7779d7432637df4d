// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/engine.hpp>

#include <mutex>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// One hold of the planner's lock. Its destructor drains the events posted meanwhile and turns the planner's commands
/// into actions. Slow actions, and those that may run users' code, which may call the engine, follow after the lock was
/// released: exceptions are destroyed then, and, on threads of the application, the objects in `m_dropped`.
class Engine::Section {
 public:
  explicit Section(Engine& engine);
  struct AlreadyLocked {};
  Section(Engine& engine, AlreadyLocked);
  ~Section();
  Section(Section const&) = delete;
  Section& operator=(Section const&) = delete;

  std::vector<CopyJob> copies;
  std::vector<Bell*> to_wake;
  std::vector<std::exception_ptr> dropped_errors;

 private:
  Engine& m_engine;
  Clock::time_point m_entered{};  // set when it is measured
  bool m_measured;
};

template <class Function>
auto Engine::apply(Function&& function) {
  Section section(*this);
  rethrow_if_broken();
  m_planner.set_now(since_start(Clock::now()));
  return function(section);
}

/// Spins, then sleeps, until `met`; whoever makes it true rings the bell. A spinning thread drains others' events.
template <class Condition>
void Engine::wait_for(Bell& bell, Condition&& met) {
  auto const give_up = Clock::now() + m_options.spin;
  for (;;) {
    for (int polls = 0; polls < 32; ++polls) {
      if (met()) return;
      spin_pause();
    }
    if (m_pending.load(std::memory_order_relaxed) != 0) try_drain();
    if (Clock::now() < give_up) continue;
    bell.sleeping.store(1);
    if (!met()) bell.sleeping.wait(1);
    bell.sleeping.store(0);
  }
}

}  // namespace granary

#pragma GCC visibility pop
