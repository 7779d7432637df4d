// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/acts.hpp"

#include <granary/detail/core/planner/planner.hpp>

namespace granary::test {

using namespace detail;

void Acts::handled(Event const& event, NewIds ids) {
  if (m_on_event) m_on_event(event, ids);
  tell_waiting();
}

void Acts::performed(Command const& command) {
  std::visit([&](auto const& kind) { m_on_act(kind); }, command);
  ++m_performed;
  tell_waiting();
}

void Acts::noticed(Notice const& notice) {
  auto const before = m_performed + planner().commands().size();
  std::visit(
      [&](auto const& kind) {
        if constexpr (requires { Act(kind); }) m_waiting.push_back({before, kind});
      },
      notice);
}

void Acts::tell_waiting() {
  while (!m_waiting.empty() && m_waiting.front().commands_before == m_performed) {
    m_on_act(m_waiting.front().act);
    m_waiting.pop_front();
  }
}

}  // namespace granary::test
