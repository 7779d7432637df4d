// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run.hpp"

#include <granary/linalg/linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/common/dry_run.hpp"
#include "apps/common/scalars.hpp"
#include "apps/common/session.hpp"
#include "apps/common/tiling.hpp"

namespace granary::app {
namespace {

// The plan of the run, made before any work.
struct Plan {
  CholeskyRunOptions const& options;
  MatrixInput input;
  RuntimeOptions runtime;
  TileGrid grid = {};
  std::uint64_t tasks = 0;
  std::uint64_t check_tasks = 0;

  [[nodiscard]] MatrixPart part() const { return options.upper ? MatrixPart::Upper : MatrixPart::Lower; }
  [[nodiscard]] std::string factor_name() const { return options.upper ? "U" : "L"; }
};

template <class T>
void emit_factorization(TaskEmitter& tasks, TiledMatrix<T> const& a, RunOptions const& options) {
  tasks.set_inner_tile(options.inner_tile);
  potrf(tasks, a, {.order = options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking});
}

// For the report's bounds.
Operations operations_of(Plan const& plan) {
  auto const n = plan.grid.rows;
  auto const element = size_of(plan.input.type);
  return {.record =
              [&plan](GraphRecorder& graph) {
                with_scalar(plan.input.type, [&]<class T>(std::type_identity<T>) {
                  DryRun factor(graph);
                  TaskEmitter tasks(factor);
                  emit_factorization(tasks, factor.matrix<T>(plan.grid, plan.part()), plan.options);
                });
              },
          .io_bound = [n, element](Bytes memory) { return cholesky_io_bound(n, memory, element); },
          .compulsory = cholesky_compulsory(n, element)};
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
                                  .part = plan.part(),
                                  .dataset = plan.factor_name()})),
        m_source(plan.input.open(plan.grid.tile, plan.part(), session.runtime().io())),
        m_factor(add_file_matrix<T>(session.runtime(), plan.grid, plan.part(), plan.factor_name(), m_source, m_sink)) {}

  Report perform() {
    auto report = factor();
    m_session.note(report, operations_of(m_plan));
    if (m_plan.options.check) check(report);
    m_factor.release(m_session.submitter());
    m_session.wait();
    if (m_sink) m_sink->commit();
    return report;
  }

 private:
  Report factor() {
    auto const start = std::chrono::steady_clock::now();
    auto const n = m_plan.grid.rows;
    auto const type = m_plan.input.type;
    double const flops = operations_on(type, cholesky_flops(n));
    {
      auto const progress = m_session.show("factoring", m_plan.tasks, flops);
      TaskEmitter tasks(m_session.submitter());
      emit_factorization(tasks, m_factor, m_plan.options);
      m_session.wait();
    }
    auto const figures = m_session.figures(start);
    auto const element = size_of(type);
    Report report;
    report.line("matrix", fmt::format("n = {}, {}", n, name_of(type)));
    report.value("n", n);
    report.add_run(m_plan.grid.tile, type, figures, flops,
                   {.bound = cholesky_io_bound(n, figures.memory_limit, element),
                    .nonsymmetric = cholesky_io_bound_nonsymmetric(n, figures.memory_limit, element),
                    .compulsory = cholesky_compulsory(n, element),
                    .reads_input = m_plan.input.file.has_value(),
                    .writes_output = m_sink != nullptr});
    return report;
  }

  // With an output, the check reads the file back.
  void check(Report& report) {
    auto& runtime = m_session.runtime();
    auto a = add_file_matrix<T>(runtime, m_plan.grid, m_plan.part(), "A", m_source, nullptr);
    if (m_sink) {
      m_factor.release(m_session.submitter());
      m_factor = add_file_matrix<T>(runtime, m_plan.grid, m_plan.part(), m_plan.factor_name(), m_sink, nullptr);
    }
    auto const n = m_plan.grid.rows;
    auto const progress =
        m_session.show("checking", m_plan.check_tasks, operations_on(m_plan.input.type, cholesky_flops(n)));
    auto const [result, seconds] = m_session.residual<T>(n, [&](TaskEmitter& tasks, ResidualData const& results) {
      submit_potrf_residual(tasks, a, m_factor, task_memory(m_plan.runtime), results);
    });
    a.release(m_session.submitter());
    report.residual(result,
                    m_plan.options.upper ? "|A - U^H U| / (n eps |A|)"
                    : is_complex<T>      ? "|A - L L^H| / (n eps |A|)"
                                         : "|A - L L^T| / (n eps |A|)",
                    seconds);
  }

  Plan const& m_plan;
  Session& m_session;
  std::shared_ptr<MatrixSink> m_sink;
  std::shared_ptr<Storage> m_source;
  TiledMatrix<T> m_factor;
};

// Counts the tasks; returns the memory of the largest one.
template <class T>
MemoryNeed dry_run(Plan& plan) {
  DryRun factor;
  TaskEmitter tasks(factor);
  auto const a = factor.matrix<T>(plan.grid, plan.part());
  emit_factorization(tasks, a, plan.options);
  plan.tasks = factor.tasks();
  if (!plan.options.check) return factor.need();
  DryRun check;
  TaskEmitter checks(check);
  submit_potrf_residual(checks, check.matrix<T>(plan.grid, plan.part()), check.matrix<T>(plan.grid, plan.part()),
                        task_memory(plan.runtime), {.residual = check.in_place(8), .norm = check.in_place(8)});
  plan.check_tasks = check.tasks();
  auto need = factor.need();
  need.cover(check.need());
  return need;
}

Plan make_plan(CholeskyRunOptions const& options) {
  auto const input = find_matrix(options.input, options);
  require_square(input);
  Plan plan{.options = options, .input = input, .runtime = check_options(options, {input}, options.upper ? "U" : "L")};
  plan.grid = square_grid(input.rows, choose_tile(input, options.tile, task_memory(plan.runtime)));
  auto const need = with_scalar(input.type, [&]<class T>(std::type_identity<T>) { return dry_run<T>(plan); });
  require_memory(plan.runtime, need, plan.grid, input.type);
  return plan;
}

}  // namespace

Report run_cholesky(CholeskyRunOptions const& options, SignalWatch& signals) {
  auto const plan = make_plan(options);
  Report report;
  run_session(options, plan.runtime, signals, [&](Session& session) {
    session.warn_of_few_tiles(plan.grid, plan.part());
    if (!options.output) session.require_scratch(cholesky_compulsory(plan.grid.rows, size_of(plan.input.type)));
    with_scalar(plan.input.type, [&]<class T>(std::type_identity<T>) { report = Run<T>(plan, session).perform(); });
    session.note(report, operations_of(plan));
  });
  return report;
}

}  // namespace granary::app
