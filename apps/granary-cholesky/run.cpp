// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run.hpp"

#include <granary/linalg/linalg.hpp>
#include <granary/policies/registry.hpp>

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "matrix_input.hpp"
#include "progress.hpp"
#include "tiling.hpp"

namespace granary::app {
namespace {

// Everything that is known before any work.
struct Plan {
  Options const& options;
  RuntimeOptions runtime;
  MatrixInput input;
  TileGrid grid;
};

void check_outputs(Options const& options, MatrixInput const& input) {
  std::vector<std::string> inputs;
  if (input.file) inputs.push_back(input.file->path);
  if (options.output) check_output(*options.output, inputs);
  if (!options.json) return;
  check_output(*options.json, inputs);
  if (options.output &&
      std::filesystem::weakly_canonical(*options.json) == std::filesystem::weakly_canonical(*options.output)) {
    throw InvalidArgument("the factor and the summary cannot both be written to " + *options.output);
  }
}

Plan make_plan(Options const& options) {
  auto input = find_matrix(options.input, options.single_precision);
  check_outputs(options, input);
  auto const runtime = configure(options.runtime);
  static_cast<void>(make_policies(runtime.scheduler, runtime.eviction));
  auto const grid = choose_grid(input, options.tile, runtime.host_memory, options.check);
  return {options, runtime, std::move(input), grid};
}

std::shared_ptr<MatrixSink> make_sink(Plan const& plan, Runtime& runtime) {
  if (!plan.options.output) return nullptr;
  auto const& output = *plan.options.output;
  try {
    return std::make_shared<MatrixSink>(runtime.io(), output,
                                        MatrixSinkOptions{.order = plan.grid.rows,
                                                          .tile = plan.grid.tile,
                                                          .scalar_type = plan.input.type,
                                                          .part = MatrixPart::Lower,
                                                          .dataset = "L"});
  } catch (DataError const& error) {
    // Of a file that HDF5 could not write, as on a full disk; the input is not to blame.
    throw Error("cannot write " + output + ": " + error.what());
  }
}

template <class T>
class Run {
 public:
  Run(Plan const& plan, SignalWatch& signals, Runtime& runtime)
      : m_plan(plan),
        m_signals(signals),
        m_runtime(runtime),
        m_sink(make_sink(plan, runtime)),
        m_source(plan.input.open(plan.grid.tile, runtime.io())),
        m_l(add_file_matrix<T>(runtime, plan.grid, MatrixPart::Lower, "L", m_source, m_sink)) {}

  Report perform() {
    auto report = factor();
    if (m_plan.options.check) report.residual = check();
    m_l.release(m_runtime.submitter());
    m_runtime.wait();
    m_signals.check();
    if (m_sink) m_sink->commit();
    return report;
  }

 private:
  Report factor() {
    auto const start = std::chrono::steady_clock::now();
    auto const count = m_plan.grid.tile_rows();
    CholeskyOptions const options{.order = m_plan.options.left_looking ? FactorOrder::LeftLooking
                                                                       : FactorOrder::RightLooking};
    {
      auto const progress = show("factoring", count * (count + 1) * (count + 2) / 6, cholesky_flops(m_plan.grid.rows));
      TaskEmitter tasks(m_runtime.submitter());
      potrf(tasks, m_l, options);
      wait();
    }
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
    return report(elapsed.count());
  }

  // With an output, what is checked is what the file holds.
  double check() {
    auto const n = static_cast<double>(m_plan.grid.rows);
    auto a = add_file_matrix<T>(m_runtime, m_plan.grid, MatrixPart::Lower, "A", m_source, nullptr);
    if (m_sink) {
      m_l.release(m_runtime.submitter());
      m_l = add_file_matrix<T>(m_runtime, m_plan.grid, MatrixPart::Lower, "L", m_sink, nullptr);
    }
    auto const count = m_plan.grid.tile_rows();
    auto const progress =
        show("checking", count * (count + 1) * (count + 2) / 6 + count_tiles(m_plan.grid, MatrixPart::Lower), n * n * n / 3);
    double const result = residual<T>(m_runtime, a, m_l);
    a.release(m_runtime.submitter());
    if (!(result < 1)) {
      throw Error(fmt::format("the check failed: |A - L L^T| / (n eps |A|) is {:.3g}, not below 1", result));
    }
    return result;
  }

  [[nodiscard]] std::unique_ptr<Progress> show(char const* what, std::uint64_t tasks, double flops) {
    auto const before = m_runtime.statistics().planner.tasks_run;
    return std::make_unique<Progress>(what, tasks, flops, m_plan.options.quiet,
                                      [this, before] { return m_runtime.statistics().planner.tasks_run - before; });
  }

  void wait() {
    m_signals.check();
    m_runtime.wait();
  }

  Report report(double elapsed) {
    auto const statistics = m_runtime.statistics();
    auto const& options = m_runtime.options();
    return {.n = m_plan.grid.rows,
            .tile = m_plan.grid.tile,
            .type = m_plan.input.type,
            .workers = statistics.workers.size(),
            .scheduler = options.scheduler,
            .eviction = options.eviction,
            .depth = options.depth,
            .memory_limit = options.host_memory,
            .memory_peak = statistics.planner.nodes.at(Runtime::host_node().index()).peak,
            .seconds = elapsed,
            .bytes_read = m_runtime.io()->bytes_read(),
            .bytes_written = m_runtime.io()->bytes_written(),
            .tasks = statistics.planner.tasks_run,
            .wait_seconds = seconds(statistics.waiting_for_data),
            .decision_seconds = seconds(statistics.deciding)};
  }

  Plan const& m_plan;
  SignalWatch& m_signals;
  Runtime& m_runtime;
  std::shared_ptr<MatrixSink> m_sink;
  std::shared_ptr<Storage> m_source;
  TiledMatrix<T> m_l;
};

// While it lives, a signal cancels the runtime's tasks.
class CancelOnSignal {
 public:
  CancelOnSignal(SignalWatch& signals, Runtime& runtime) : m_signals(signals) {
    signals.on_signal(
        [&runtime](Interrupted const& interrupted) { runtime.cancel(std::make_exception_ptr(interrupted)); });
  }
  CancelOnSignal(CancelOnSignal const&) = delete;
  CancelOnSignal& operator=(CancelOnSignal const&) = delete;
  ~CancelOnSignal() { m_signals.on_signal(nullptr); }

 private:
  SignalWatch& m_signals;
};

}  // namespace

Report run(Options const& options, SignalWatch& signals) {
  auto const plan = make_plan(options);
  Kokkos::ScopeGuard const kokkos;
  Runtime runtime(plan.runtime);
  CancelOnSignal const cancel(signals, runtime);
  try {
    return plan.input.type == ScalarType::Float32 ? Run<float>(plan, signals, runtime).perform()
                                                  : Run<double>(plan, signals, runtime).perform();
  } catch (Error const&) {
    // What a cancelled run says on its way out is the signal's doing.
    signals.check();
    throw;
  }
}

}  // namespace granary::app
