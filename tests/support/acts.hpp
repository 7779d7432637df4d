// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/observer.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>
#include <variant>

namespace granary::test {

using namespace detail;

/// What a planner did: a command, or a change of memory.
using Act = std::variant<Allocated, Freed, KeptAside, NotKept, ResultPlaced, ResultDropped, Settled, CopyCommand,
                         RunCommand, AbortCommand, BeginCommand, ShipCommand, RetireCommand, ForgetCommand>;

/// Tells events and acts in the order in which the planner decided them, commands when they are performed. Every act
/// comes after the event from which it follows.
class Acts final : public PlannerObserver {
 public:
  explicit Acts(std::function<void(Act const&)> on_act, std::function<void(Event const&, NewIds)> on_event = {})
      : m_on_act(std::move(on_act)), m_on_event(std::move(on_event)) {}

 private:
  struct Waiting {
    std::size_t commands_before;
    Act act;
  };

  void handled(Event const& event, NewIds ids) override;
  void performed(Command const& command) override;
  void noticed(Notice const& notice) override;
  void tell_waiting();

  std::function<void(Act const&)> m_on_act;
  std::function<void(Event const&, NewIds)> m_on_event;
  std::deque<Waiting> m_waiting;
  std::size_t m_performed = 0;
};

}  // namespace granary::test
