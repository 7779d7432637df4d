// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/task_error.hpp>
#include <granary/detail/linalg/runtime/pending.hpp>
#include <granary/detail/runtime/session/session.hpp>

namespace granary {

void detail::PendingCall::wait() {
  if (!m_waited) {
    auto* const session = m_results.session();
    if (session == nullptr)
      throw InvalidArgument("wait() of a Pending that was moved from, or whose Runtime has ended");
    session->refuse_in_task("wait()");
    try {
      session->wait_for(m_results.ids(), m_operands.ids());
    } catch (...) {
      m_error = in_task(std::current_exception(), m_call);  // the tasks of other processes are not known here
    }
    try {
      if (m_check && !m_error) m_check();
    } catch (...) {
      m_error = in_task(std::current_exception(), m_call);
      session->set_failure({.what = m_call.what, .error = m_error, .origin = m_call});
    }
    m_waited = true;
    m_check = nullptr;
    m_results.release();
    m_operands.release();
  }
  if (m_error) std::rethrow_exception(m_error);
}

}  // namespace granary
