// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/signals.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace granary::app {
namespace {

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// A handler may only touch globals. A handler and not a blocked mask, because threads of BLAS are older than main().
int pipe_ends[2] = {-1, -1};
std::array<struct sigaction, watched.size()> previous;

void write_signal(int signal) {
  int const saved = errno;
  auto const byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] auto const written = ::write(pipe_ends[1], &byte, 1);
  errno = saved;
}

}  // namespace

Interrupted::Interrupted(int signal) : Error(std::string("interrupted: ") + ::strsignal(signal)), m_signal(signal) {}

SignalWatch::SignalWatch() {
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw Error(std::string("cannot watch for signals: ") + std::strerror(errno));
  m_thread = std::thread([this] { watch(); });
  for (std::size_t i = 0; i < watched.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = write_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(watched[i], nullptr, &previous[i]);
    // What is ignored, as under nohup, stays so.
    if (previous[i].sa_handler != SIG_IGN) ::sigaction(watched[i], &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (std::size_t i = 0; i < watched.size(); ++i) ::sigaction(watched[i], &previous[i], nullptr);
  write_signal(0);
  m_thread.join();
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

void SignalWatch::check() {
  std::lock_guard const lock(m_mutex);
  if (m_signal != 0) throw Interrupted(m_signal);
}

void SignalWatch::on_signal(std::function<void(Interrupted const&)> function) {
  std::lock_guard const lock(m_mutex);
  m_function = std::move(function);
  if (m_signal != 0 && m_function) m_function(Interrupted(m_signal));
}

void SignalWatch::on_state_request(std::function<void()> function) {
  std::lock_guard const lock(m_mutex);
  m_tell_state = std::move(function);
}

void SignalWatch::watch() {
  unsigned char byte = 0;
  for (;;) {
    auto const count = ::read(pipe_ends[0], &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1 || byte == 0) return;
    std::lock_guard const lock(m_mutex);
    if (byte == SIGUSR1) {
      if (m_tell_state) {
        m_tell_state();
      } else {
        fmt::print(stderr, "no tasks run at present\n");
      }
      continue;
    }
    if (m_signal != 0) continue;
    m_signal = byte;
    if (m_function) m_function(Interrupted(m_signal));
  }
}

}  // namespace granary::app
