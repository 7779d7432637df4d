// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/progress.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/say.hpp>
#include <granary/detail/core/base/start_thread.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace granary {

using namespace detail;

namespace {

constexpr double redraw_seconds = 0.2;

void require(bool valid, char const* what, double seconds) {
  if (!valid) throw InvalidArgument(fmt::format("the time between {} of a Progress cannot be {} s", what, seconds));
}

}  // namespace

std::string format_progress(std::string const& what, ProgressFigures const& figures, double flops) {
  auto const done = figures.tasks_done;
  auto const tasks = figures.tasks_expected > 0 ? figures.tasks_expected : figures.tasks_submitted;
  if (done > tasks) return fmt::format("{}  {} tasks", what, done);
  auto text = fmt::format("{}  {}/{} tasks", what, done, tasks);
  if (done == 0 || figures.seconds <= 0) return text;
  double const share = static_cast<double>(done) / static_cast<double>(tasks);
  text += flops > 0 ? fmt::format("  {:.1f} GFlop/s", share * flops / figures.seconds * 1e-9)
                    : fmt::format("  {:.1f} tasks/s", static_cast<double>(done) / figures.seconds);
  return text + fmt::format("  {:.0f} s left", figures.seconds * (1 - share) / share);
}

Progress::Progress(Runtime& runtime, std::string what, ProgressOptions options)
    : m_runtime(runtime), m_what(std::move(what)), m_options(std::move(options)), m_first(look()) {
  auto const line = m_options.line_seconds, call = m_options.callback_seconds;
  require(line >= 0 && std::isfinite(line), "lines", line);
  require(call > 0 && std::isfinite(call), "calls", call);
  if (shows() || m_options.callback) m_thread = start_thread("the progress", [this] { follow(); });
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

bool Progress::shows() const {
  return !m_options.quiet && (m_options.line_seconds > 0 || ::isatty(STDERR_FILENO) != 0);
}

ProgressFigures Progress::look() const {
  auto const planner = m_runtime.statistics().planner;
  auto const moved = m_runtime.figures();
  std::chrono::duration<double> const elapsed = Clock::now() - m_start;
  return {.tasks_done = planner.tasks_run + planner.tasks_failed + planner.tasks_cancelled,
          .tasks_submitted = planner.tasks_submitted,
          .tasks_expected = m_options.tasks,
          .seconds = elapsed.count(),
          .bytes_read = moved.bytes_read,
          .bytes_written = moved.bytes_written,
          .memory_used = planner.nodes.at(Runtime::host_node().index()).used,
          .memory_limit = m_runtime.options().host_memory};
}

ProgressFigures Progress::figures() const {
  auto now = look();
  now.tasks_done -= m_first.tasks_done;
  now.tasks_submitted -= m_first.tasks_submitted;
  now.bytes_read -= m_first.bytes_read;
  now.bytes_written -= m_first.bytes_written;
  return now;
}

void Progress::show_line() const {
  auto const text = format_progress(m_what, figures(), m_options.flops);
  detail::say(m_options.line_seconds > 0 ? text + "\n" : "\r\x1b[K" + text);
}

// Whatever the callback throws must not end the process.
void Progress::call() {
  if (!m_options.callback) return;
  std::string why = "an exception of unknown type";
  try {
    return m_options.callback(figures());
  } catch (std::exception const& error) {
    why = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the reason stays unknown
  }
  m_options.callback = nullptr;
  spdlog::error("granary: the callback of the progress '{}' is not called any more, because it has thrown: {}", m_what,
                why);
}

void Progress::follow() {
  auto const interval = [](double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e9)));
  };
  bool const lines = m_options.line_seconds > 0;
  bool const draws = shows();
  auto const between_lines = interval(lines ? m_options.line_seconds : redraw_seconds);
  auto const between_calls = interval(m_options.callback_seconds);
  auto next_line = draws ? m_start + between_lines : Clock::time_point::max();
  auto next_call = m_options.callback ? m_start + between_calls : Clock::time_point::max();
  std::unique_lock lock(m_mutex);
  while (!m_changed.wait_until(lock, std::min(next_line, next_call), [this] { return m_stop; })) {
    lock.unlock();  // a callback may take long
    auto const now = Clock::now();
    if (now >= next_line) {
      show_line();
      next_line = now + between_lines;
    }
    if (now >= next_call) {
      call();
      next_call = Clock::now() + between_calls;
    }
    lock.lock();
  }
  lock.unlock();
  if (draws && !lines) detail::say("\r\x1b[K");
  call();
}

}  // namespace granary
