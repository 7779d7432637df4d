// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How calls of an Engine take the planner's lock; for the sources of Engine alone.
#pragma once

#include <granary/detail/core/engine/engine.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace granary::detail {

// Calls the function under the planner's lock; afterwards what threads reported meanwhile is applied, and all commands
// are performed.
template <class Function>
auto Engine::hold_lock(Function&& function) {
  m_lock.lock();
  m_mailbox.count_call();
  auto const release = [this, hold = m_accounts.caller_enters()] {
    leave(hold);
    try_drain();
  };
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
      function();
      release();
    } else {
      auto result = function();
      release();
      return result;
    }
  } catch (...) {
    release();
    throw;
  }
}

// As hold_lock, for events of callers. A refusal leaves the planner as it was; what ends an event midway ends the run.
template <class Function>
auto Engine::apply(Function&& function) {
  return hold_lock([&] {
    if (m_broken) std::rethrow_exception(m_broken);
    m_planner.set_now(m_accounts.now());
    try {
      return function();
    } catch (...) {
      if (m_planner.interrupted()) m_broken = std::current_exception();
      throw;
    }
  });
}

}  // namespace granary::detail
