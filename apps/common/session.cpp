// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/session.hpp"

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/kokkos_start.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/linalg/runtime/blas_speed.hpp>
#include <granary/detail/linalg/runtime/shared_sink.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>

#include "apps/common/print.hpp"
#include "apps/common/processes.hpp"

namespace granary::app {

using namespace detail;

namespace {

// Shifts a run's events to a clock on which the run ends after `elapsed`.
void count_from_start(Trace& trace, Duration elapsed) {
  auto const before = std::max(trace.end.time_since_epoch() - elapsed, Duration{0});
  auto const shift = [&](Instant& instant) { instant = std::max(instant - before, Instant{}); };
  for (auto& task : trace.tasks) {
    for (auto* instant : {&task.issued, &task.begin, &task.end}) shift(*instant);
  }
  for (auto& transfer : trace.transfers) {
    for (auto* instant : {&transfer.begin, &transfer.end}) shift(*instant);
  }
  for (auto& eviction : trace.evictions) shift(eviction.when);
  for (auto& level : trace.memory) shift(level.when);
  for (auto& level : trace.booked) shift(level.when);
  trace.end = Instant(elapsed);
}

// Sums over all processes, and the largest time and peaks.
RunFigures of_all_processes(Runtime& runtime, RunFigures figures) {
  auto* const others = runtime.session().others();
  if (others == nullptr) return figures;
  auto const whole = [](double number) { return static_cast<std::uint64_t>(number * 1e9); };
  auto const counts = others->gather({figures.workers, figures.bytes_read, figures.bytes_written, figures.tasks,
                                      figures.memory_peak, figures.bytes_sent, figures.booked_peak, figures.sleeps});
  auto const times = others->gather({whole(figures.seconds), whole(figures.wait_seconds),
                                     whole(figures.blocked_seconds), whole(figures.decision_seconds)});
  figures.workers = figures.bytes_read = figures.bytes_written = figures.tasks = figures.bytes_sent = figures.sleeps =
      0;
  figures.wait_seconds = figures.blocked_seconds = figures.decision_seconds = 0;
  for (std::size_t p = 0; p < counts.size(); ++p) {
    auto const& [workers, read, written, tasks, peak, sent, booked, sleeps] = counts[p];
    figures.workers += workers;
    figures.bytes_read += read;
    figures.bytes_written += written;
    figures.tasks += tasks;
    figures.memory_peak = std::max(figures.memory_peak, peak);
    figures.bytes_sent += sent;
    figures.booked_peak = std::max(figures.booked_peak, booked);
    figures.sleeps += sleeps;
    figures.seconds = std::max(figures.seconds, static_cast<double>(times[p][0]) * 1e-9);
    figures.wait_seconds += static_cast<double>(times[p][1]) * 1e-9;
    figures.blocked_seconds += static_cast<double>(times[p][2]) * 1e-9;
    figures.decision_seconds += static_cast<double>(times[p][3]) * 1e-9;
  }
  auto const grid = runtime.options().grid.value_or(Distribution::for_processes(runtime.processes()));
  figures.processes = runtime.processes();
  figures.grid = fmt::format("{}x{}", grid.rows(), grid.columns());
  return figures;
}

}  // namespace

HostNumbers::HostNumbers(Runtime& runtime, std::uint64_t count)
    : m_numbers(std::make_shared<std::vector<double>>(count)),
      m_data(runtime.submitter(),
             {runtime.session().add_data(
                 "numbers", count * sizeof(double),
                 {.memory = reinterpret_cast<std::byte*>(m_numbers->data()), .keep = m_numbers})}) {}

std::vector<double> const& HostNumbers::values(Runtime& runtime) const {
  runtime.session().share_value(id(), std::as_writable_bytes(std::span(*m_numbers)));
  return *m_numbers;
}

std::shared_ptr<MatrixSink> Session::make_sink(MatrixSinkOptions const& matrix) {
  if (!m_options.output) return nullptr;
  try {
    return granary::make_sink(m_runtime.session(), *m_options.output, matrix);
  } catch (DataError const& error) {
    // HDF5 could not write, for example on a full disk: not a fault of the input.
    throw Error("cannot write " + *m_options.output + ": " + error.what());
  }
}

void Session::require_scratch(Bytes values) const {
  app::require_scratch(m_runtime.options(), m_runtime.figures().devices.size(), values);
}

std::unique_ptr<Progress> Session::show(std::string const& what, std::uint64_t tasks, double flops) {
  // This process shows its own part.
  tasks /= m_runtime.processes();
  flops /= m_runtime.processes();
  return std::make_unique<Progress>(
      m_runtime, what,
      ProgressOptions{
          .tasks = tasks, .flops = flops, .quiet = m_options.quiet, .line_seconds = m_options.progress_seconds});
}

void Session::wait() {
  m_signals.check();
  m_runtime.wait();
  m_signals.check();
}

RunFigures Session::run(std::string const& what, std::uint64_t tasks, double flops, std::function<void()> const& work) {
  auto const start = std::chrono::steady_clock::now();
  {
    auto const progress = show(what, tasks, flops);
    work();
  }
  return figures(start);
}

RunFigures Session::figures(std::chrono::steady_clock::time_point start) {
  std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
  if (m_options.trace || m_options.report) {
    m_events = m_runtime.trace();
    count_from_start(*m_events, std::chrono::duration_cast<Duration>(elapsed));
  }
  auto const statistics = m_runtime.statistics();
  auto const figures = m_runtime.figures();
  auto const& options = m_runtime.options();
  Duration blocked{0};
  for (auto const& worker : statistics.workers) blocked += worker.blocked;
  RunFigures ours{.workers = *options.workers,
                  .cores_per_worker = options.cores_per_worker,
                  .loaded = m_options.load,
                  .scheduler = options.scheduler,
                  .remark = statistics.remark,
                  .eviction = options.eviction,
                  .depth = options.depth,
                  .memory_limit = options.host_memory,
                  .memory_peak = statistics.planner.nodes.at(Runtime::host_node().index()).peak,
                  .seconds = elapsed.count(),
                  .bytes_read = m_runtime.session().io()->bytes_read(),
                  .bytes_written = m_runtime.session().io()->bytes_written(),
                  .tasks = statistics.planner.tasks_run,
                  .booked_peak = statistics.planner.booking.peak,
                  .sleeps = statistics.planner.booking.sleeps,
                  .wait_seconds = seconds(statistics.waiting_for_data),
                  .blocked_seconds = seconds(blocked),
                  .decision_seconds = seconds(statistics.deciding),
                  .devices = figures.devices,
                  .device_memory = options.device_memory,
                  .device_lanes = options.device_lanes,
                  .traffic = figures.device_traffic,
                  .bytes_sent = figures.bytes_sent};
  return of_all_processes(m_runtime, std::move(ours));
}

void Session::write_events() {
  if (!m_options.trace && !m_options.report) return;
  // If the run did not end, the events up to now.
  auto& trace = m_events ? *m_events : m_events.emplace(m_runtime.trace());
  if (trace.dropped > 0) {
    spdlog::warn("granary: {} events were not recorded: the limit is {} (--trace-events)", trace.dropped,
                 m_runtime.options().trace_events);
  }
  describe(trace, m_figures);
  if (m_operations) add_bounds(trace, *m_operations);
  if (m_options.trace) write_trace(trace, *m_options.trace);
  if (m_options.report) write_html_report(trace, *m_options.report);
}

void Session::keep_events() {
  try {
    write_events();
  } catch (std::exception const& error) {
    spdlog::error("granary: the trace or the report was not written: {}", error.what());
  }
}

void run_session(RunOptions const& options, RuntimeOptions const& runtime_options, SignalWatch& signals,
                 std::function<void(Session&)> const& work) {
  if (options.quiet) spdlog::set_level(spdlog::level::err);
  if (auto const obstacle = kokkos_obstacle()) throw InvalidArgument(*obstacle);
  auto kokkos = std::make_unique<Kokkos::ScopeGuard>();
  try {
    Runtime runtime(runtime_options, processes());
    detail::warn_of_slow_blas();
    runtime.cancel_on(signals);
    Session session(options, signals, runtime);
    try {
      try {
        work(session);
      } catch (Error const&) {
        session.keep_events();
        // A cancelled run fails because of the signal: report the signal.
        signals.check();
        throw;
      } catch (...) {
        session.keep_events();
        throw;
      }
      session.write_events();
      if (options.save_schedule) write_schedule(*options.save_schedule, runtime.schedule());
    } catch (...) {
      runtime.give_up(std::current_exception());
    }
  } catch (DeviceLost const&) {
    // Kokkos cannot finalize without its device: it would end the process before the error is printed.
    if (*vendor_backend() != '\0') static_cast<void>(kokkos.release());
    throw;
  }
}

}  // namespace granary::app
