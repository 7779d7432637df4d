// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/algorithms/io_bounds.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/runtime/setup/machine.hpp>
#include <granary/linalg.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "apps/common/lu_tasks.hpp"
#include "apps/common/planned_run.hpp"
#include "apps/common/program.hpp"
#include "apps/common/result_matrix.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

struct Options : RunOptions {
  std::string a;
  std::string b;
  bool spd = false;
  bool mixed = false;
};

struct Plan : RunPlan {
  Options const& options;
  MatrixInput b;
  TileGrid columns;  // of B and X
  LuOptions lu = {};

  // Of the columns of B and X; empty without names.
  [[nodiscard]] std::vector<std::string> names() const { return b.file ? b.file->columns : std::vector<std::string>{}; }
  [[nodiscard]] CholeskyOptions cholesky() const { return {.order = lu.order}; }
  [[nodiscard]] Bytes compulsory() const {
    auto const element = size_of(a.type);
    return options.spd ? cholesky_compulsory(grid.rows, element) : lu_compulsory(grid.rows, element);
  }
  // The factors have no home.
  [[nodiscard]] Bytes bytes_of_factors() const { return options.mixed ? compulsory() / 2 : compulsory(); }
  [[nodiscard]] Bytes bytes_of_columns() const { return columns.rows * columns.cols * size_of(a.type); }
  [[nodiscard]] double product_flops() const {
    auto const n = static_cast<double>(grid.rows);
    return 2 * n * n * static_cast<double>(columns.cols);
  }
  // Real operations of the factorization and of the solves.
  [[nodiscard]] double flops() const {
    auto const factor = options.spd ? cholesky_flops(grid.rows) : lu_flops(grid.rows, grid.rows);
    return operations_on(a.type, factor + product_flops());
  }
};

// Mixed precision may fall back to double precision, whose tasks are the largest.
void emit_dry(DryRun& solve, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(solve);
    auto const a = solve.matrix<T>(plan.grid, plan.part);
    auto const x = solve.matrix<T>(plan.columns, MatrixPart::All);
    if (plan.options.spd) {
      potrf(tasks, a, plan.cholesky());
      potrs(tasks, a, x);
      if (plan.options.mixed)
        hemm(tasks, Side::Left, Uplo::Lower, T(-1), a, x, T(1), solve.matrix<T>(plan.columns, MatrixPart::All));
    } else {
      auto const pivots = dry_pivots(solve, plan.grid);
      getrf(tasks, a, pivots,
            plan.options.mixed
                ? with_leaf(chosen_leaf(), a, false, task_memory(plan.runtime), device_capacity(plan.runtime) > 0)
                : plan.lu);
      getrs(tasks, Op::NoTrans, a, &pivots, x);
      if (plan.options.mixed)
        gemm(tasks, Op::NoTrans, Op::NoTrans, T(-1), a, x, T(1), solve.matrix<T>(plan.columns, MatrixPart::All));
    }
  });
}

// The tasks of mixed precision before a fallback, which are half the size.
void emit_dry_conversion(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(RealOf<T>) == sizeof(double)) {
      TaskEmitter tasks(dry);
      auto const a = dry.matrix<T>(plan.grid, plan.part);
      copy(tasks, a, dry.matrix<HalfOf<T>>(plan.grid, plan.part), OtherTriangle::Zeroed);
      if (plan.options.spd) {
        submit_lanhe(tasks, Norm::Infinity, a, dry.in_place(8));
      } else {
        submit_lange(tasks, Norm::Infinity, a, dry.in_place(8));
      }
    }
  });
}

void emit_dry_check(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(dry);
    submit_solve_residual(tasks, Op::NoTrans, dry.matrix<T>(plan.grid, plan.part),
                          dry.matrix<T>(plan.columns, MatrixPart::All), dry.matrix<T>(plan.columns, MatrixPart::All),
                          task_memory(plan.runtime), dry.residual_data(plan.columns));
  });
}

void check_inputs(Options const& options, MatrixInput const& a, MatrixInput const& b) {
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

Plan make_plan(Options const& options) {
  if (processes() && !options.spd)
    throw InvalidArgument("several processes factor without row exchanges only: add --spd");
  if (processes() && options.mixed) throw InvalidArgument("--mixed is for one process: leave it out");
  auto const a = find_matrix(options.a, options);
  auto const b = find_columns(options.b, a.type);
  check_inputs(options, a, b);
  auto common = make_run_plan(options, {a, b}, options.spd ? MatrixPart::Lower : MatrixPart::All, "X",
                              options.mixed ? TileKernels::Others
                              : options.spd ? TileKernels::Cholesky
                                            : TileKernels::PivotedLu);
  auto const tile = common.grid.tile;
  Plan plan{std::move(common), options, b, {b.rows, b.cols, tile}};
  plan.lu.order = options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking;
  require_space(plan, std::nullopt, plan.bytes_of_factors());
  auto const count = [&] { return dry_run(plan, emit_dry, emit_dry_check); };
  auto need = options.spd || options.mixed ? count() : choose_panels(plan.lu, plan, count);
  if (options.mixed) {
    DryRun conversion;
    emit_dry_conversion(conversion, plan);
    need.cover(conversion.need());
  }
  require_memory(plan, need);
  return plan;
}

// For the report's bounds, if the tasks are known in advance. No I/O bound is known for a factorization and its solves
// together.
std::optional<Operations> operations_of(Plan const& plan) {
  if (plan.options.mixed) return std::nullopt;
  return Operations{.emit = [&plan](DryRun& dry) { emit_dry(dry, plan); },
                    .io_bound = [](Bytes) { return Bytes{0}; },
                    .compulsory = plan.compulsory() + plan.bytes_of_columns()};
}

Bytes scratch(Plan const& plan) { return plan.bytes_of_factors(); }

Report make_report(Plan const& plan, RunFigures const& figures, MixedReport const& mixed) {
  auto const n = plan.grid.rows;
  auto const nrhs = plan.columns.cols;
  auto const& options = plan.options;
  auto const type = plan.a.type;
  auto const element = size_of(type);
  auto const memory = figures.all_memory();
  Report report;
  report.line("matrix", fmt::format("n = {}, {}", n, name_of(type)));
  auto const names = plan.names();
  report.line("right-hand sides",
              names.empty() ? fmt::format("{}", nrhs) : fmt::format("{}: {}", nrhs, excerpts(names, 60)));
  report.line("method", fmt::format("{}{}", options.spd ? "Cholesky" : "LU", options.mixed ? ", mixed precision" : ""));
  report.value("n", n);
  report.value("nrhs", nrhs);
  if (!names.empty()) report.value("columns", names);
  report.value("method", options.spd ? "cholesky" : "lu");
  report.add_run(plan, figures, plan.flops(),
                 {.bound = options.spd ? cholesky_io_bound(n, memory, element) : lu_io_bound(n, memory, element),
                  .compulsory = plan.compulsory() + plan.bytes_of_columns(),
                  .compulsory_written = plan.bytes_of_columns(),
                  .reads_input = plan.a.file && plan.b.file,
                  .writes_output = options.output.has_value()});
  if (!options.mixed) return report;
  report.line("refinements", mixed.used_float
                                 ? fmt::format("{}", mixed.iterations)
                                 : fmt::format("{}, then all in double precision: {}", mixed.iterations, mixed.reason));
  report.value("iterations", mixed.iterations);
  report.value("used_float", mixed.used_float);
  if (!mixed.used_float) report.value("reason", mixed.reason);
  return report;
}

template <class T>
class Run {
 public:
  Run(Plan const& plan, granary::app::Session& session)
      : m_plan(plan),
        m_session(session),
        m_a_source(plan.a.open(plan.grid.tile, plan.part, session.runtime())),
        m_b_source(plan.b.open(plan.columns.tile, MatrixPart::All, session.runtime())),
        m_pivots(session.runtime(), plan.grid, !plan.options.spd && !plan.options.mixed),
        m_x(session, plan.columns, MatrixPart::All, "X", plan.options.mixed ? nullptr : m_b_source,
            plan.b.file.value_or(MatrixFileInfo{})) {}

  Report perform() {
    MixedReport mixed;
    auto const figures = m_session.run("solving", m_plan.tasks, m_plan.flops(), [&] {
      auto a = matrix_a();
      mixed = solve(a);
      a.release(m_session.submitter());
    });
    m_x.require_finite("the solution", [](std::uint64_t, std::uint64_t) { return true; });
    auto report = make_report(m_plan, figures, mixed);
    if (m_plan.check) check(report);
    m_x.commit();
    return report;
  }

 private:
  [[nodiscard]] TiledMatrix<T> matrix_a() {
    return add_file_matrix<T>(m_session.runtime().session(), m_plan.grid, m_plan.part, "A", m_a_source, nullptr);
  }
  [[nodiscard]] TiledMatrix<T> matrix_b() {
    return add_file_matrix<T>(m_session.runtime().session(), m_plan.columns, MatrixPart::All, "B", m_b_source, nullptr);
  }

  MixedReport solve(TiledMatrix<T> const& a) {
    if constexpr (sizeof(RealOf<T>) == sizeof(double)) {
      if (m_plan.options.mixed) return solve_mixed(a);
    }
    TaskEmitter tasks(m_session.submitter());
    tasks.set_inner_tile(m_plan.inner_tile);
    if (m_plan.options.spd) {
      potrf(tasks, a, m_plan.cholesky());
      potrs(tasks, a, m_x.tiles());
      m_session.wait();
    } else {
      getrf(tasks, a, *m_pivots.data(), m_plan.lu);
      m_session.wait();
      if (auto const order = m_pivots.zero_pivot()) throw Singular(*order);
      getrs(tasks, Op::NoTrans, a, m_pivots.data(), m_x.tiles());
      m_session.wait();
    }
    return {};
  }
  MixedReport solve_mixed(TiledMatrix<T> const& a) {
    RuntimeCall const runtime(m_session.runtime(), SourceLine{});  // messages name no line of the program
    auto b = matrix_b();
    auto report = m_plan.options.spd ? posv_mixed(runtime, Uplo::Lower, a, b, m_x.tiles())
                                     : gesv_mixed(runtime, a, b, m_x.tiles());
    b.release(m_session.submitter());
    m_session.wait();
    return report;
  }

  // With an output, the check reads the file back.
  void check(Report& report) {
    m_x.read_back();
    auto a = matrix_a();
    auto b = matrix_b();
    m_session.check<T>(report,
                       {.n = m_plan.grid.rows,
                        .tasks = m_plan.check_tasks,
                        .flops = operations_on(m_plan.a.type, m_plan.product_flops()),
                        .formula = "max |b - A x| / (n eps |A| |x|)",
                        .columns = m_plan.columns,
                        .names = m_plan.names()},
                       [&](TaskEmitter& tasks, ResidualData const& results) {
                         submit_solve_residual(tasks, Op::NoTrans, a, m_x.tiles(), b, task_memory(m_plan.runtime),
                                               results);
                       });
    a.release(m_session.submitter());
    b.release(m_session.submitter());
  }

  Plan const& m_plan;
  granary::app::Session& m_session;
  std::shared_ptr<Storage> m_a_source;
  std::shared_ptr<Storage> m_b_source;
  RunPivots m_pivots;
  ResultMatrix<T> m_x;
};

void add_arguments(CommandLine& line, Options& options) {
  line.app()
      .add_option("A", options.a,
                  "square matrix: file.h5[:/dataset], file.npy, or a generated one, such as random:N or general:N")
      ->required();
  line.app()
      .add_option("B", options.b, "right-hand sides, as many rows: file.h5[:/dataset], file.npy or general:NxK")
      ->required();
  line.app().add_option("X", options.output,
                        "HDF5 file for the solution, dataset X; without it the solution is dropped at the end");
  line.app().add_flag("--spd", options.spd,
                      "A is Hermitian (real: symmetric) positive definite: Cholesky; only its lower triangle is read");
  line.app().add_flag("--mixed", options.mixed, "factor in single precision and refine X to double precision");
  line.add_run_options("measure the solution's residual, under the same memory limit");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      "granary-solve",
      [&](SignalWatch& signals) {
        Options options;
        CommandLine line("granary-solve", "Solves A X = B with a matrix A that may be larger than memory.", options);
        add_arguments(line, options);
        if (!line.parse(argc, argv)) return;
        run_as_planned(options, signals, make_plan, operations_of, scratch,
                       []<class T>(Plan const& plan, granary::app::Session& session, std::type_identity<T>) {
                         return Run<T>(plan, session).perform();
                       })
            .publish(options);
      },
      process_hooks(argv));
}
