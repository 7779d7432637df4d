// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run.hpp"

#include <granary/linalg/algorithms/io_bounds.hpp>
#include <granary/linalg/algorithms/lu.hpp>
#include <granary/linalg/residuals/residual.hpp>
#include <granary/linalg/runtime/matrices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "apps/common/dry_run.hpp"
#include "apps/common/lu_tasks.hpp"
#include "apps/common/scalars.hpp"
#include "apps/common/session.hpp"
#include "apps/common/tiling.hpp"

namespace granary::app {
namespace {

// The plan of the run, made before any work.
struct Plan {
  LuRunOptions const& options;
  MatrixInput input;
  RuntimeOptions runtime;
  TileGrid grid = {};
  LuOptions lu = {};
  std::uint64_t tasks = 0;
  std::uint64_t check_tasks = 0;
};

// For the report's bounds.
Operations operations_of(Plan const& plan) {
  auto const& grid = plan.grid;
  auto const element = size_of(plan.input.type);
  return {.record =
              [&plan](GraphRecorder& graph) {
                with_scalar(plan.input.type, [&]<class T>(std::type_identity<T>) {
                  DryRun factor(graph);
                  auto const pivots = dry_pivots(factor, plan.grid);
                  emit_dry_lu<T>(factor, plan.grid, plan.options.pivoting ? &pivots : nullptr, plan.lu);
                });
              },
          .io_bound = [grid, element](Bytes memory) { return lu_io_bound(grid.rows, grid.cols, memory, element); },
          .compulsory = grid.rows * grid.cols * element};
}

template <class T>
class Run {
 public:
  Run(Plan const& plan, Session& session)
      : m_plan(plan),
        m_session(session),
        m_sink(session.make_sink({.rows = plan.grid.rows,
                                  .cols = plan.grid.cols,
                                  .tile = plan.grid.tile,
                                  .scalar_type = plan.input.type,
                                  .part = MatrixPart::All,
                                  .dataset = "LU"})),
        m_source(plan.input.open(plan.grid.tile, MatrixPart::All, session.runtime().io())),
        m_pivots(session.runtime(), plan.grid, plan.options.pivoting),
        m_lu(add_file_matrix<T>(session.runtime(), plan.grid, MatrixPart::All, "LU", m_source, m_sink)) {}

  LuResult perform() {
    LuResult result;
    factor(result);
    m_session.note(result.report, operations_of(m_plan));
    if (m_plan.options.check) check(result.report);
    m_lu.release(m_session.submitter());
    m_session.wait();
    if (!m_sink) return result;
    if (m_plan.options.pivoting) m_sink->add_vector("pivots", m_pivots.rows());
    m_sink->commit();
    return result;
  }

 private:
  void factor(LuResult& result) {
    auto const start = std::chrono::steady_clock::now();
    auto const& grid = m_plan.grid;
    auto const type = m_plan.input.type;
    double const flops = operations_on(type, lu_flops(grid.rows, grid.cols));
    auto options = m_plan.lu;
    std::optional<RunGrowth> measured;
    if (options.growth) options.growth = measured.emplace(m_session.runtime(), grid).data();
    {
      auto const progress = m_session.show("factoring", m_plan.tasks, flops);
      TaskEmitter tasks(m_session.submitter());
      emit_lu(tasks, m_lu, m_pivots.data(), options);
      m_session.wait();
    }
    auto const figures = m_session.figures(start);
    auto& report = result.report;
    result.zero_pivot = m_pivots.zero_pivot();
    report.line("matrix", fmt::format("{} x {}, {}", grid.rows, grid.cols, name_of(type)));
    report.value("m", grid.rows);
    report.value("n", grid.cols);
    add_pivoting(report, m_plan.options.pivoting, m_plan.lu);
    auto const element = size_of(type);
    report.add_run(grid.tile, type, figures, flops,
                   {.bound = lu_io_bound(grid.rows, grid.cols, figures.memory_limit, element),
                    .compulsory = grid.rows * grid.cols * element,
                    .reads_input = m_plan.input.file.has_value(),
                    .writes_output = m_sink != nullptr});
    if (measured) {
      auto const growth = measured->value();
      report.line("pivot growth", fmt::format("{:.3g} = max |U| / max |A|", growth.ratio()));
      report.value("growth", growth.ratio());
    }
    if (!result.zero_pivot) return;
    report.line("zero pivot", fmt::format("U({0}, {0}), counted from 1", *result.zero_pivot));
    report.value("zero_pivot", *result.zero_pivot);
  }

  // With an output, the check reads the file back.
  void check(Report& report) {
    auto& runtime = m_session.runtime();
    auto const& grid = m_plan.grid;
    auto a = add_file_matrix<T>(runtime, grid, MatrixPart::All, "A", m_source, nullptr);
    if (m_sink) {
      m_lu.release(m_session.submitter());
      m_lu = add_file_matrix<T>(runtime, grid, MatrixPart::All, "LU", m_sink, nullptr);
    }
    auto const progress = m_session.show("checking", m_plan.check_tasks,
                                         operations_on(m_plan.input.type, lu_flops(grid.rows, grid.cols)));
    auto const [result, seconds] =
        m_session.residual<T>(grid.cols, [&](TaskEmitter& tasks, ResidualData const& results) {
          submit_getrf_residual(tasks, a, m_lu, m_pivots.data(), task_memory(m_plan.runtime), results);
        });
    a.release(m_session.submitter());
    report.residual(result, m_plan.options.pivoting ? "|P A - L U| / (n eps |A|)" : "|A - L U| / (n eps |A|)", seconds);
  }

  Plan const& m_plan;
  Session& m_session;
  std::shared_ptr<MatrixSink> m_sink;
  std::shared_ptr<Storage> m_source;
  RunPivots m_pivots;
  TiledMatrix<T> m_lu;
};

// Counts the tasks; returns the memory of the largest one.
template <class T>
MemoryNeed dry_run(Plan& plan) {
  DryRun factor;
  auto const factor_pivots = dry_pivots(factor, plan.grid);
  emit_dry_lu<T>(factor, plan.grid, plan.options.pivoting ? &factor_pivots : nullptr, plan.lu);
  plan.tasks = factor.tasks();
  if (!plan.options.check) return factor.need();
  DryRun check;
  auto const pivots = dry_pivots(check, plan.grid);
  TaskEmitter tasks(check);
  submit_getrf_residual(tasks, check.matrix<T>(plan.grid, MatrixPart::All), check.matrix<T>(plan.grid, MatrixPart::All),
                        plan.options.pivoting ? &pivots : nullptr, task_memory(plan.runtime),
                        {.residual = check.in_place(8), .norm = check.in_place(8)});
  plan.check_tasks = check.tasks();
  auto need = factor.need();
  need.cover(check.need());
  return need;
}

Plan make_plan(LuRunOptions const& options) {
  auto const input = find_matrix(options.input, options);
  Plan plan{.options = options, .input = input, .runtime = check_options(options, {input}, "LU")};
  auto const memory = task_memory(plan.runtime);
  plan.grid = {input.rows, input.cols, choose_tile(input, options.tile, memory)};
  plan.lu.inner_tile = options.inner_tile;
  plan.lu.order = options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking;
  // Always measured without pivoting: there the growth tells how accurate the factors are.
  if (options.check || !options.pivoting) plan.lu.growth.emplace();
  auto const need = with_scalar(input.type, [&]<class T>(std::type_identity<T>) {
    return choose_leaf(plan.lu, memory, [&] { return dry_run<T>(plan); });
  });
  require_memory(plan.runtime, need, plan.grid, input.type);
  return plan;
}

}  // namespace

LuResult run_lu(LuRunOptions const& options, SignalWatch& signals) {
  auto const plan = make_plan(options);
  LuResult result;
  run_session(options, plan.runtime, signals, [&](Session& session) {
    session.warn_of_few_tiles(plan.grid, MatrixPart::All);
    if (!options.output) session.require_scratch(plan.grid.rows * plan.grid.cols * size_of(plan.input.type));
    with_scalar(plan.input.type, [&]<class T>(std::type_identity<T>) { result = Run<T>(plan, session).perform(); });
    session.note(result.report, operations_of(plan));
  });
  return result;
}

}  // namespace granary::app
