// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/two_sides.hpp>

#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/runtime/runtime_parts.hpp>

namespace granary::detail {

TwoSides::TwoSides(Runtime& runtime, DataId data, std::byte const* device_side)
    : m_runtime(runtime), m_data(data), m_device(runtime.m_parts->node_of("the device side", device_side, 1, false)) {}

void TwoSides::use() {
  tell();
  if (!m_in_use.exchange(true)) m_runtime.m_parts->keep_until_wait(shared_from_this());
}

void TwoSides::give_back() {
  m_in_use = false;
  set_device_valid(m_runtime.engine().valid_on(m_data, m_device));
}

void TwoSides::device_changed() { m_runtime.engine().place_changed(m_data, m_device); }
void TwoSides::host_changed() { m_runtime.engine().place_changed(m_data, Runtime::host_node()); }

}  // namespace granary::detail
