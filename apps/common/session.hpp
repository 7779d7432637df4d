// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/signal_watch.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/files/matrix_sink.hpp>
#include <granary/detail/linalg/residuals/residual.hpp>
#include <granary/detail/runtime/api/progress.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/matrix_input.hpp"
#include "apps/common/report.hpp"
#include "apps/common/room.hpp"
#include "apps/common/run_bounds.hpp"

namespace granary::app {

/// A datum of numbers in the program's memory; they stay alive while tasks use them.
class HostNumbers {
 public:
  explicit HostNumbers(Runtime& runtime, std::uint64_t count = 1);

  [[nodiscard]] DataId id() const { return m_data[0]; }
  /// After Session::wait, in all processes.
  [[nodiscard]] std::vector<double> const& values(Runtime& runtime) const;

 private:
  std::shared_ptr<std::vector<double>> m_numbers;
  detail::OwnedData m_data;
};

/// The measurement of a residual.
struct Check {
  std::uint64_t n = 0;  ///< order of the matrix
  std::uint64_t tasks = 0;
  double flops = 0;
  std::string formula;
  std::optional<detail::TileGrid> columns =
      {};                               ///< of a solve: the tiles of X, whose columns have residuals of their own
  std::vector<std::string> names = {};  ///< of these columns; empty without names
};

/// A program's work on its runtime, with progress and signal handling.
class Session {
 public:
  Session(RunOptions const& options, SignalWatch& signals, Runtime& runtime)
      : m_options(options), m_signals(signals), m_runtime(runtime) {}

  [[nodiscard]] RunOptions const& options() const { return m_options; }
  [[nodiscard]] Runtime& runtime() { return m_runtime; }
  [[nodiscard]] Submitter& submitter() { return m_runtime.submitter(); }
  /// The output, or null without one. Throws InvalidArgument, and Error if it cannot be written.
  [[nodiscard]] std::shared_ptr<detail::MatrixSink> make_sink(detail::MatrixSinkOptions const& matrix);
  /// The same, with the memory of the devices of this run.
  void require_scratch(Bytes values) const;
  /// Calls Runtime::wait; throws Interrupted if a signal has arrived.
  void wait();
  /// Calls `work`, which submits `tasks` tasks of `flops` operations and waits, and shows progress meanwhile. Returns
  /// the run's figures. Trace and report end here: they do not cover a later check.
  [[nodiscard]] RunFigures run(std::string const& what, std::uint64_t tasks, double flops,
                               std::function<void()> const& work);
  /// Submits tasks that measure a residual (linalg/residual), waits, and adds the residual to the report, scaled.
  /// Throws Error if it is too large.
  template <class T, class Emit>
  void check(Report& report, Check const& check, Emit const& emit) {
    auto const progress = show("checking", check.tasks, check.flops);
    auto const start = std::chrono::steady_clock::now();
    HostNumbers const difference(m_runtime);
    HostNumbers const norm(m_runtime);
    detail::ResidualData results{.residual = difference.id(), .norm = norm.id()};
    std::vector<HostNumbers> columns;
    for (std::uint64_t j = 0; check.columns && j < check.columns->tile_cols(); ++j) {
      columns.emplace_back(m_runtime, check.columns->cols_in(j));
      results.columns.push_back(columns.back().id());
    }
    TaskEmitter tasks(submitter());
    emit(tasks, results);
    wait();
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
    double const found = difference.values(m_runtime)[0], scale = norm.values(m_runtime)[0];
    std::vector<double> of_columns;
    for (auto const& part : columns) {
      for (double const value : part.values(m_runtime)) of_columns.push_back(scaled_residual<T>(value, scale, check.n));
    }
    report.residual(scaled_residual<T>(found, scale, check.n), check.formula, elapsed.count(),
                    {.values = std::move(of_columns), .names = check.names});
  }
  /// Adds the report's values to the trace, and bounds of the operations if given: these must live until the trace is
  /// written.
  void note(Report const& report, std::optional<Operations> operations) {
    m_figures = report.values();
    m_operations = std::move(operations);
  }
  /// Writes the trace and the report if requested. Throws IoError.
  void write_events();
  /// The same while an exception propagates: errors go to the log.
  void keep_events();

 private:
  // Shows progress of the next `tasks` tasks while the result lives.
  [[nodiscard]] std::unique_ptr<Progress> show(std::string const& what, std::uint64_t tasks, double flops);
  // The figures of the session since `start`, its first work.
  [[nodiscard]] RunFigures figures(std::chrono::steady_clock::time_point start);

  RunOptions const& m_options;
  SignalWatch& m_signals;
  Runtime& m_runtime;
  nlohmann::ordered_json m_figures = nlohmann::ordered_json::object();
  std::optional<Operations> m_operations;
  std::optional<Trace> m_events;  // of the run, once it has ended
};

/// Calls `work` with a session on a runtime with these options; a signal cancels its tasks. Throws what `work` throws,
/// and Interrupted.
void run_session(RunOptions const& options, RuntimeOptions const& runtime, SignalWatch& signals,
                 std::function<void(Session&)> const& work);

}  // namespace granary::app
