// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/runtime/runtime.hpp>
#include <granary/linalg/files/matrix_sink.hpp>
#include <granary/linalg/residual.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/matrix_input.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "apps/common/run_bounds.hpp"
#include "apps/common/signals.hpp"

namespace granary::app {

/// A datum that is a number in the program's memory; it outlives this if tasks still use it.
class HostNumber {
 public:
  explicit HostNumber(Runtime& runtime);
  HostNumber(HostNumber const&) = delete;
  HostNumber& operator=(HostNumber const&) = delete;
  ~HostNumber() { m_submitter.release_data(m_id); }

  [[nodiscard]] DataId id() const { return m_id; }
  /// To be read after Session::wait.
  [[nodiscard]] double value() const { return *m_number; }

 private:
  Submitter& m_submitter;
  std::shared_ptr<double> m_number = std::make_shared<double>(0);
  DataId m_id;
};

/// What a program does on its runtime, with progress shown and signals obeyed.
class Session {
 public:
  Session(RunOptions const& options, SignalWatch& signals, Runtime& runtime)
      : m_options(options), m_signals(signals), m_runtime(runtime) {}

  [[nodiscard]] RunOptions const& options() const { return m_options; }
  [[nodiscard]] Runtime& runtime() { return m_runtime; }
  [[nodiscard]] Submitter& submitter() { return m_runtime.submitter(); }
  /// The output, or null where none was asked for. Throws InvalidArgument, and Error when it cannot be written.
  [[nodiscard]] std::shared_ptr<MatrixSink> make_sink(MatrixSinkOptions const& matrix);
  /// Throws Error when scratch has no room for what memory does not hold of so many bytes of values, which live at once
  /// and have no home.
  void require_scratch(Bytes values) const;
  /// Shows progress while the result lives: of the tasks to come, these many.
  [[nodiscard]] std::unique_ptr<Progress> show(std::string const& what, std::uint64_t tasks, double flops);
  /// Says so where the tiles are too few for the workers.
  void warn_of_few_tiles(TileGrid const& grid, MatrixPart part) const;
  /// Runtime::wait; throws Interrupted when a signal has arrived.
  void wait();
  /// Emits tasks that measure a residual (linalg/residual) and waits for it. Returns it scaled for a matrix of order
  /// `n`, and the seconds that this took.
  template <class T, class Emit>
  [[nodiscard]] std::pair<double, double> residual(std::uint64_t n, Emit const& emit) {
    auto const start = std::chrono::steady_clock::now();
    HostNumber const difference(m_runtime);
    HostNumber const norm(m_runtime);
    TaskEmitter tasks(submitter());
    emit(tasks, ResidualData{.residual = difference.id(), .norm = norm.id()});
    wait();
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
    return {scaled_residual<T>(difference.value(), norm.value(), n), elapsed.count()};
  }
  /// What has been done since `start`, the session's first work. Events that are written later are those up to here:
  /// trace and report are of the run, without a check that follows.
  [[nodiscard]] RunFigures figures(std::chrono::steady_clock::time_point start);
  /// Puts the report's values beside the events that are written at the end, with bounds of the operations where these
  /// are known: they must be valid until then.
  void note(Report const& report, std::optional<Operations> operations) {
    m_figures = report.values();
    m_operations = std::move(operations);
  }
  /// What happened, where it is asked for. Throws IoError.
  void write_events();
  /// The same while an exception passes: an error goes to the log.
  void keep_events();

 private:
  RunOptions const& m_options;
  SignalWatch& m_signals;
  Runtime& m_runtime;
  nlohmann::ordered_json m_figures = nlohmann::ordered_json::object();
  std::optional<Operations> m_operations;
  std::optional<Trace> m_events;  // of the run, once it has ended
};

/// What can be found wrong before any work: outputs that are inputs or each other, directories that are not there,
/// unknown policies, an output that is named like another format's file or like a dataset in it; `dataset` is what the
/// output will hold. Gives the runtime's options. Throws InvalidArgument.
[[nodiscard]] RuntimeOptions check_options(RunOptions const& options, std::vector<MatrixInput> const& inputs,
                                           std::string const& dataset);

/// Calls `work` with a session on a runtime of these options; a signal cancels its tasks. Throws what `work` does, and
/// Interrupted.
void run_session(RunOptions const& options, RuntimeOptions const& runtime, SignalWatch& signals,
                 std::function<void(Session&)> const& work);

}  // namespace granary::app
