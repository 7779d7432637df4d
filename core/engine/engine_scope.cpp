// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine_scope.hpp>

#include <utility>

namespace granary::detail {

namespace {
thread_local EngineScope const* innermost = nullptr;
}

EngineScope::EngineScope(Engine const* engine) : m_engine(engine), m_outer(std::exchange(innermost, this)) {}

EngineScope::~EngineScope() { innermost = m_outer; }

Engine const* EngineScope::current() { return innermost != nullptr ? innermost->m_engine : nullptr; }

bool EngineScope::within(Engine const* engine) {
  for (auto const* scope = innermost; scope != nullptr; scope = scope->m_outer) {
    if (scope->m_engine == engine) return true;
  }
  return false;
}

}  // namespace granary::detail
