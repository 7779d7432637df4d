// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/stop_token.hpp>

#include <utility>

namespace granary {

namespace {
thread_local detail::StopToken current_stop;
}

detail::StopToken stop_token() { return current_stop; }

detail::StopScope::StopScope(detail::StopToken const& token) : m_outer(std::exchange(current_stop, token)) {}

detail::StopScope::~StopScope() { current_stop = m_outer; }

}  // namespace granary
