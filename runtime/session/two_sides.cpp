// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/runtime/session/session.hpp>
#include <granary/detail/runtime/session/two_sides.hpp>
#include <granary/detail/runtime/setup/nodes.hpp>

namespace granary::detail {

TwoSides::TwoSides(Session& session, DataId data, std::byte const* device_side)
    : m_session(session), m_data(data), m_device(session.device_of("the device side", device_side)) {}

void TwoSides::use() {
  tell();
  if (!m_in_use.exchange(true)) m_session.keep_until_wait(shared_from_this());
}

void TwoSides::give_back() {
  m_in_use = false;
  set_device_valid(m_session.engine().valid_on(m_data, m_device));
}

void TwoSides::device_changed() { m_session.engine().place_changed(m_data, m_device); }
void TwoSides::host_changed() { m_session.engine().place_changed(m_data, host_node()); }

}  // namespace granary::detail
