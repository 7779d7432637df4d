// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run.hpp"

#include <granary/linalg/algorithms/io_bounds.hpp>
#include <granary/linalg/linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/common/dry_run.hpp"
#include "apps/common/lu_tasks.hpp"
#include "apps/common/scalars.hpp"
#include "apps/common/session.hpp"
#include "apps/common/tiling.hpp"

namespace granary::app {
namespace {

// The plan of the run, made before any work.
struct Plan {
  SolveOptions const& options;
  MatrixInput a;
  MatrixInput b;
  RuntimeOptions runtime;
  TileGrid grid = {};     // of A
  TileGrid columns = {};  // of B and X
  LuOptions lu = {};
  std::uint64_t tasks = 0;
  std::uint64_t check_tasks = 0;

  [[nodiscard]] MatrixPart part() const { return options.spd ? MatrixPart::Lower : MatrixPart::All; }
  [[nodiscard]] CholeskyOptions cholesky() const { return {.order = lu.order}; }
  // The factors have no home.
  [[nodiscard]] Bytes bytes_of_factors() const {
    auto const element = size_of(a.type);
    auto const bytes = options.spd ? cholesky_compulsory(grid.rows, element) : lu_compulsory(grid.rows, element);
    return options.mixed ? bytes / 2 : bytes;
  }
  // Real operations of the factorization and of the solves.
  [[nodiscard]] double flops() const {
    auto const n = static_cast<double>(grid.rows);
    auto const factor = options.spd ? cholesky_flops(grid.rows) : lu_flops(grid.rows, grid.rows);
    return operations_on(a.type, factor + 2 * n * n * static_cast<double>(columns.cols));
  }
};

template <class T>
class Run {
 public:
  Run(Plan const& plan, Session& session)
      : m_plan(plan),
        m_session(session),
        m_sink(session.make_sink({.rows = plan.columns.rows,
                                  .cols = plan.columns.cols,
                                  .tile = plan.columns.tile,
                                  .scalar_type = plan.a.type,
                                  .part = MatrixPart::All,
                                  .dataset = "X"})),
        m_a_source(plan.a.open(plan.grid.tile, plan.part(), session.runtime().io())),
        m_b_source(plan.b.open(plan.columns.tile, MatrixPart::All, session.runtime().io())),
        m_pivots(session.runtime(), plan.grid, !plan.options.spd && !plan.options.mixed),
        m_x(add_file_matrix<T>(session.runtime(), plan.columns, MatrixPart::All, "X",
                               plan.options.mixed ? nullptr : m_b_source, m_sink)) {}

  Report perform() {
    auto const start = std::chrono::steady_clock::now();
    auto a = matrix_a();
    MixedReport mixed;
    {
      auto const progress = m_session.show("solving", m_plan.tasks, m_plan.flops());
      mixed = solve(a);
    }
    a.release(m_session.submitter());
    auto result = report(m_session.figures(start), mixed);
    if (m_plan.options.check) check(result);
    m_x.release(m_session.submitter());
    m_session.wait();
    if (m_sink) m_sink->commit();
    return result;
  }

 private:
  [[nodiscard]] TiledMatrix<T> matrix_a() {
    return add_file_matrix<T>(m_session.runtime(), m_plan.grid, m_plan.part(), "A", m_a_source, nullptr);
  }
  [[nodiscard]] TiledMatrix<T> matrix_b() {
    return add_file_matrix<T>(m_session.runtime(), m_plan.columns, MatrixPart::All, "B", m_b_source, nullptr);
  }

  MixedReport solve(TiledMatrix<T> const& a) {
    if constexpr (sizeof(RealOf<T>) == sizeof(double)) {
      if (m_plan.options.mixed) return solve_mixed(a);
    }
    TaskEmitter tasks(m_session.submitter());
    tasks.set_inner_tile(m_plan.options.inner_tile);
    if (m_plan.options.spd) {
      potrf(tasks, a, m_plan.cholesky());
      potrs(tasks, a, m_x);
      m_session.wait();
    } else {
      getrf(tasks, a, *m_pivots.data(), m_plan.lu);
      m_session.wait();
      if (auto const order = m_pivots.zero_pivot()) throw Singular(*order);
      getrs(tasks, Op::NoTrans, a, m_pivots.data(), m_x);
      m_session.wait();
    }
    return {};
  }
  MixedReport solve_mixed(TiledMatrix<T> const& a) {
    auto& runtime = m_session.runtime();
    auto b = matrix_b();
    auto report = m_plan.options.spd ? posv_mixed(runtime, Uplo::Lower, a, b, m_x) : gesv_mixed(runtime, a, b, m_x);
    b.release(m_session.submitter());
    m_session.wait();
    return report;
  }

  [[nodiscard]] Report report(RunFigures const& figures, MixedReport const& mixed) const {
    auto const n = m_plan.grid.rows;
    auto const nrhs = m_plan.columns.cols;
    auto const& options = m_plan.options;
    auto const type = m_plan.a.type;
    auto const element = size_of(type);
    Report report;
    report.line("matrix", fmt::format("n = {}, {}", n, name_of(type)));
    report.line("right-hand sides", fmt::format("{}", nrhs));
    report.line("method",
                fmt::format("{}{}", options.spd ? "Cholesky" : "LU", options.mixed ? ", mixed precision" : ""));
    report.value("n", n);
    report.value("nrhs", nrhs);
    report.value("method", options.spd ? "cholesky" : "lu");
    auto const memory = figures.memory_limit;
    auto const right_hand_sides = n * nrhs * element;
    report.add_run(
        m_plan.grid.tile, type, figures, m_plan.flops(),
        {.bound = options.spd ? cholesky_io_bound(n, memory, element) : lu_io_bound(n, memory, element),
         .compulsory = (options.spd ? cholesky_compulsory(n, element) : lu_compulsory(n, element)) + right_hand_sides,
         .compulsory_written = right_hand_sides,
         .reads_input = m_plan.a.file && m_plan.b.file,
         .writes_output = m_sink != nullptr});
    if (!options.mixed) return report;
    report.line("refinements",
                mixed.used_float ? fmt::format("{}", mixed.iterations)
                                 : fmt::format("{}, then all in double precision: {}", mixed.iterations, mixed.reason));
    report.value("iterations", mixed.iterations);
    report.value("used_float", mixed.used_float);
    if (!mixed.used_float) report.value("reason", mixed.reason);
    return report;
  }

  // With an output, the check reads the file back.
  void check(Report& report) {
    if (m_sink) {
      m_x.release(m_session.submitter());
      m_x = add_file_matrix<T>(m_session.runtime(), m_plan.columns, MatrixPart::All, "X", m_sink, nullptr);
    }
    auto a = matrix_a();
    auto b = matrix_b();
    auto const n = static_cast<double>(m_plan.grid.rows);
    auto const progress =
        m_session.show("checking", m_plan.check_tasks,
                       operations_on(m_plan.a.type, 2 * n * n * static_cast<double>(m_plan.columns.cols)));
    auto const [result, seconds] =
        m_session.residual<T>(m_plan.grid.rows, [&](TaskEmitter& tasks, ResidualData const& results) {
          submit_solve_residual(tasks, Op::NoTrans, a, m_x, b, task_memory(m_plan.runtime), results);
        });
    a.release(m_session.submitter());
    b.release(m_session.submitter());
    report.residual(result, "max |b - A x| / (n eps |A| |x|)", seconds);
  }

  Plan const& m_plan;
  Session& m_session;
  std::shared_ptr<MatrixSink> m_sink;
  std::shared_ptr<Storage> m_a_source;
  std::shared_ptr<Storage> m_b_source;
  RunPivots m_pivots;
  TiledMatrix<T> m_x;
};

// Mixed precision may fall back to double precision, whose tasks are the largest.
template <class T>
void emit_dry_solve(DryRun& solve, Plan const& plan) {
  TaskEmitter tasks(solve);
  auto const a = solve.matrix<T>(plan.grid, plan.part());
  auto const x = solve.matrix<T>(plan.columns, MatrixPart::All);
  if (plan.options.spd) {
    potrf(tasks, a, plan.cholesky());
    potrs(tasks, a, x);
    if (plan.options.mixed)
      hemm(tasks, Side::Left, Uplo::Lower, T(-1), a, x, T(1), solve.matrix<T>(plan.columns, MatrixPart::All));
  } else {
    auto const pivots = dry_pivots(solve, plan.grid);
    getrf(tasks, a, pivots,
          plan.options.mixed ? detail::with_leaf(chosen_leaf(), a, false, task_memory(plan.runtime)) : plan.lu);
    getrs(tasks, Op::NoTrans, a, &pivots, x);
    if (plan.options.mixed)
      gemm(tasks, Op::NoTrans, Op::NoTrans, T(-1), a, x, T(1), solve.matrix<T>(plan.columns, MatrixPart::All));
  }
}

// The tasks of mixed precision before a fallback, which are half the size.
template <class T>
void emit_dry_conversion(DryRun& dry, Plan const& plan) {
  if constexpr (sizeof(RealOf<T>) == sizeof(double)) {
    TaskEmitter tasks(dry);
    auto const a = dry.matrix<T>(plan.grid, plan.part());
    copy(tasks, a, dry.matrix<detail::HalfOf<T>>(plan.grid, plan.part()), OtherTriangle::Zeroed);
    if (plan.options.spd) {
      submit_lanhe(tasks, Norm::Infinity, a, dry.in_place(8));
    } else {
      submit_lange(tasks, Norm::Infinity, a, dry.in_place(8));
    }
  }
}

// For the report's bounds, if the tasks are known in advance. No I/O bound is known for a factorization and its solves
// together.
std::optional<Operations> operations_of(Plan const& plan) {
  if (plan.options.mixed) return std::nullopt;
  auto const n = plan.grid.rows;
  auto const element = size_of(plan.a.type);
  return Operations{.record =
                        [&plan](GraphRecorder& graph) {
                          with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
                            DryRun solve(graph);
                            emit_dry_solve<T>(solve, plan);
                          });
                        },
                    .io_bound = [](Bytes) { return Bytes{0}; },
                    .compulsory = (plan.options.spd ? cholesky_compulsory(n, element) : lu_compulsory(n, element)) +
                                  n * plan.columns.cols * element};
}

// Counts the tasks; returns the memory of the largest one.
template <class T>
MemoryNeed dry_run(Plan& plan) {
  DryRun solve;
  emit_dry_solve<T>(solve, plan);
  plan.tasks = solve.tasks();
  auto need = solve.need();
  if (plan.options.mixed) {
    DryRun conversion;
    emit_dry_conversion<T>(conversion, plan);
    need.cover(conversion.need());
  }
  if (!plan.options.check) return need;
  DryRun check;
  TaskEmitter checks(check);
  submit_solve_residual(checks, Op::NoTrans, check.matrix<T>(plan.grid, plan.part()),
                        check.matrix<T>(plan.columns, MatrixPart::All), check.matrix<T>(plan.columns, MatrixPart::All),
                        task_memory(plan.runtime), {.residual = check.in_place(8), .norm = check.in_place(8)});
  plan.check_tasks = check.tasks();
  need.cover(check.need());
  return need;
}

void check_inputs(SolveOptions const& options, MatrixInput const& a, MatrixInput const& b) {
  require_square(a);
  if (b.rows != a.rows) {
    throw InvalidArgument(fmt::format("{} has {} rows and {} columns; right-hand sides of {} have {} rows", b.name,
                                      b.rows, b.cols, a.name, a.rows));
  }
  if (b.type != a.type) {
    throw InvalidArgument(fmt::format("{} holds {} and {} holds {}: convert one of them", a.name, name_of(a.type),
                                      b.name, name_of(b.type)));
  }
  if (options.mixed && (a.type == ScalarType::Float32 || a.type == ScalarType::Complex64)) {
    throw InvalidArgument(fmt::format("--mixed refines to double precision; {} holds {}", a.name, name_of(a.type)));
  }
}

Plan make_plan(SolveOptions const& options) {
  auto const a = find_matrix(options.a, options);
  auto const b = find_columns(options.b, a.type);
  check_inputs(options, a, b);
  Plan plan{.options = options, .a = a, .b = b, .runtime = check_options(options, {a, b}, "X")};
  auto const memory = task_memory(plan.runtime);
  auto const tile = choose_tile(a, options.tile, memory);
  plan.grid = square_grid(a.rows, tile);
  plan.columns = {b.rows, b.cols, tile};
  plan.lu.order = options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking;
  auto const need = with_scalar(a.type, [&]<class T>(std::type_identity<T>) {
    return options.spd || options.mixed ? dry_run<T>(plan)
                                        : choose_leaf(plan.lu, memory, [&] { return dry_run<T>(plan); });
  });
  require_memory(plan.runtime, need, plan.grid, a.type);
  return plan;
}

}  // namespace

Report run_solve(SolveOptions const& options, SignalWatch& signals) {
  auto const plan = make_plan(options);
  Report report;
  run_session(options, plan.runtime, signals, [&](Session& session) {
    session.warn_of_few_tiles(plan.grid, plan.part());
    session.require_scratch(plan.bytes_of_factors());
    with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) { report = Run<T>(plan, session).perform(); });
    session.note(report, operations_of(plan));
  });
  return report;
}

}  // namespace granary::app
