// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/signals.hpp"

#include <granary/core/base/partial_file.hpp>
#include <granary/core/base/start_thread.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "apps/common/print.hpp"

namespace granary::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
constexpr std::chrono::milliseconds time_to_end(500);

// A handler may only touch globals. Signals cannot be blocked instead: BLAS starts threads before main().
int wake_descriptor = -1;
std::atomic<int> first_signal = 0;
std::atomic<int> signals = 0;  // those that end the process
std::atomic<bool> state_wanted = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
std::array<struct sigaction, watched.size()> previous;

void wake_watcher() {
  std::uint64_t const one = 1;
  [[maybe_unused]] auto const written = ::write(wake_descriptor, &one, sizeof one);
}

void note_signal(int signal) {
  int const saved = errno;
  if (signal == SIGUSR1) {
    state_wanted = true;
  } else {
    int none = 0;
    first_signal.compare_exchange_strong(none, signal);
    ++signals;
  }
  wake_watcher();
  errno = saved;
}

// Async-signal-safe: no stdio, whose lock another thread may hold, and no blocking on a slow reader.
void say_if_possible(std::string const& text) {
  struct pollfd error {
    STDERR_FILENO, POLLOUT, 0
  };
  if (::poll(&error, 1, 0) != 1 || (error.revents & POLLOUT) == 0) return;
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void end_process() {
  detail::abandon_partial_files();
  Interrupted const interrupted(first_signal);
  say_if_possible(fmt::format("{}: {}\n", program_invocation_short_name, interrupted.what()));
  ::_exit(128 + interrupted.signal());
}

}  // namespace

Interrupted::Interrupted(int signal) : Error(std::string("interrupted: ") + ::strsignal(signal)), m_signal(signal) {}

SignalWatch::SignalWatch() {
  wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor < 0) throw Error(std::string("cannot watch for signals: ") + std::strerror(errno));
  m_server = start_thread("signals", [this] { serve(); });
  try {
    m_watcher = start_thread("signals", [this] { watch(); });
  } catch (...) {
    end_server();
    throw;
  }
  for (std::size_t i = 0; i < watched.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(watched[i], nullptr, &previous[i]);
    // A signal that is ignored, as under nohup, stays ignored.
    if (previous[i].sa_handler != SIG_IGN) ::sigaction(watched[i], &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (std::size_t i = 0; i < watched.size(); ++i) ::sigaction(watched[i], &previous[i], nullptr);
  end_server();
  m_stop = true;  // only now: the process can still be ended while a call does not return
  wake_watcher();
  m_watcher.join();
  ::close(wake_descriptor);
}

void SignalWatch::end_server() {
  {
    std::lock_guard const lock(m_work_mutex);
    m_no_more_work = true;
  }
  m_work.notify_one();
  m_server.join();
}

void SignalWatch::check() const {
  if (first_signal != 0) throw Interrupted(first_signal);
}

void SignalWatch::on_signal(std::function<void(Interrupted const&)> function) {
  std::lock_guard const lock(m_mutex);
  m_function = std::move(function);
  m_has_function = m_function != nullptr;
  if (first_signal == 0 || !m_function) return;
  m_called = true;
  m_function(Interrupted(first_signal));
}

void SignalWatch::on_state_request(std::function<void()> function) {
  std::lock_guard const lock(m_mutex);
  m_tell_state = std::move(function);
}

void SignalWatch::watch() {
  std::optional<Clock::time_point> deadline;
  for (;;) {
    auto const left = deadline ? std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count() : -1;
    struct pollfd wake {
      wake_descriptor, POLLIN, 0
    };
    ::poll(&wake, 1, deadline ? static_cast<int>(std::max<std::int64_t>(left, 0)) : -1);
    std::uint64_t ignored = 0;
    [[maybe_unused]] auto const count = ::read(wake_descriptor, &ignored, sizeof ignored);
    if (m_stop) return;
    if (signals > 1 || (deadline && Clock::now() >= *deadline) || (signals == 1 && !m_has_function)) end_process();
    if (signals == 1 && !deadline) deadline = Clock::now() + time_to_end;
    {
      std::lock_guard const lock(m_work_mutex);
      m_has_work = true;
    }
    m_work.notify_one();
  }
}

void SignalWatch::serve() {
  std::unique_lock work(m_work_mutex);
  for (;;) {
    m_work.wait(work, [this] { return m_has_work || m_no_more_work; });
    if (m_no_more_work) return;
    m_has_work = false;
    work.unlock();
    {
      std::lock_guard const lock(m_mutex);
      if (state_wanted.exchange(false)) {
        if (m_tell_state) {
          m_tell_state();
        } else {
          say("no tasks are running\n");
        }
      }
      if (first_signal != 0 && m_function && !std::exchange(m_called, true)) m_function(Interrupted(first_signal));
    }
    work.lock();
  }
}

}  // namespace granary::app
