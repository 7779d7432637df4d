// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/progress.hpp"

#include <granary/core/base/start_thread.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "apps/common/print.hpp"

namespace granary::app {
namespace {
constexpr double redraw_seconds = 0.2;
}

std::string format_progress(std::string const& what, std::uint64_t done, std::uint64_t tasks, double flops,
                            double seconds) {
  if (done > tasks) return fmt::format("{}  {} tasks", what, done);
  double const share = tasks == 0 ? 0 : static_cast<double>(done) / static_cast<double>(tasks);
  auto text = fmt::format("{}  {}/{} tasks", what, done, tasks);
  if (share > 0 && seconds > 0) {
    text +=
        fmt::format("  {:.1f} GFlop/s  {:.0f} s left", share * flops / seconds * 1e-9, seconds * (1 - share) / share);
  }
  return text;
}

Progress::Progress(std::string what, std::uint64_t tasks, double flops, How how, std::function<std::uint64_t()> done)
    : m_what(std::move(what)), m_tasks(tasks), m_flops(flops), m_how(how), m_done(std::move(done)) {
  if (m_how.quiet || (m_how.seconds == 0 && ::isatty(STDERR_FILENO) == 0)) return;
  m_thread = start_thread("the progress line", [this] { draw(); });
}

Progress::~Progress() {
  if (!m_thread.joinable()) return;
  {
    std::lock_guard const lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_all();
  m_thread.join();
}

void Progress::draw() {
  bool const lines = m_how.seconds > 0;
  std::chrono::duration<double> const interval(lines ? m_how.seconds : redraw_seconds);
  std::unique_lock lock(m_mutex);
  while (!m_changed.wait_for(lock, interval, [this] { return m_stop; })) {
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - m_start;
    auto const text = format_progress(m_what, m_done(), m_tasks, m_flops, elapsed.count());
    say(lines ? text + "\n" : "\r\x1b[K" + text);
  }
  if (lines) return;
  say("\r\x1b[K");
}

}  // namespace granary::app
