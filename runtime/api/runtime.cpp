// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/runtime.hpp>

#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/runtime/session/runtime_session.hpp>

#include <utility>

namespace granary {

using namespace detail;

Runtime::Runtime(RuntimeOptions const& options) : Runtime(options, nullptr) {}

Runtime::Runtime(RuntimeOptions const& options, std::shared_ptr<Processes> processes) {
  auto const make = [&] { m_own = std::make_unique<RuntimeSession>(options, processes); };
  if (!processes) {
    make();
  } else {
    try {
      processes->together(make);
    } catch (...) {
      processes->stop();  // it may know an engine that began
      throw;
    }
  }
  m_session = m_own.get();
}

// Tasks that still run use the session.
Runtime::~Runtime() {
  if (exits_here()) {  // a static object has it: its threads have stopped for ever
    static_cast<void>(m_own.release());
    return;
  }
  m_own->end();
}

void Runtime::wait() { m_own->wait(); }
std::vector<Failure> const& Runtime::failures() const { return m_own->failures(); }
void Runtime::cancel(std::exception_ptr error) { m_own->cancel(std::move(error)); }
void Runtime::cancel_on(std::stop_token const& token) { m_own->cancel_on(token); }
std::string Runtime::describe() const { return m_own->describe(); }
RuntimeFigures Runtime::figures() const { return m_own->figures(); }
EngineStatistics Runtime::statistics() const { return m_own->statistics(); }
Trace Runtime::trace() const { return m_own->trace(); }
Schedule Runtime::schedule() const { return m_own->schedule(); }
ProcessId Runtime::process() const { return m_own->process(); }
std::uint32_t Runtime::processes() const { return m_own->processes(); }
void Runtime::give_up(std::exception_ptr const& why, int status) { m_own->give_up(why, status); }

}  // namespace granary
