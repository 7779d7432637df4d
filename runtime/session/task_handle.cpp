// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/runtime/session/task_handle.hpp>

namespace granary {

bool TaskHandle::done() const { return !m_id.valid() || m_engine->ended(m_id); }

void TaskHandle::wait() const {
  if (m_id.valid()) m_engine->wait(m_id);
}

}  // namespace granary
