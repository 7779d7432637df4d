// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/check_options.hpp"
#include "apps/common/planned_run.hpp"
#include "apps/common/program.hpp"
#include "apps/common/result_matrix.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

struct Options : RunOptions {
  std::string input;
  bool upper = false;
  bool commuting = false;
  bool logdet = false;
  bool condition = false;
  std::optional<std::string> inverse_diagonal;

  [[nodiscard]] Uplo uplo() const { return upper ? Uplo::Upper : Uplo::Lower; }
};

struct Plan : RunPlan {
  Options const& options;

  [[nodiscard]] double flops() const { return operations_on(a.type, cholesky_flops(grid.rows)); }
  [[nodiscard]] Bytes bytes() const { return cholesky_compulsory(grid.rows, size_of(a.type)); }
  [[nodiscard]] Bytes io_bound(Bytes memory) const { return cholesky_io_bound(grid.rows, memory, size_of(a.type)); }
};

constexpr char const* inverse_dataset = "inverse_diagonal";

std::string factor_name(Options const& options) { return options.upper ? "U" : "L"; }

// `norm` gets the 1-norm of the matrix, if its condition is asked for.
template <class T>
void emit_factorization(Submitter& submitter, TiledMatrix<T> const& a, DataId norm, Plan const& plan) {
  TaskEmitter tasks(submitter);
  if (plan.options.condition) submit_lanhe(tasks, Norm::One, a, norm);
  tasks.set_inner_tile(plan.inner_tile);
  potrf(tasks, a,
        {.order = plan.options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking,
         .commuting = plan.options.commuting});
}

void emit_dry(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    emit_factorization(dry, dry.matrix<T>(plan.grid, plan.part), dry.in_place(8), plan);
  });
}

// What is computed from the factor.
void emit_dry_results(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(dry);
    auto const factor = dry.matrix<T>(plan.grid, plan.part);
    if (plan.options.logdet) submit_logdet(tasks, factor, dry.in_place(8));
    auto const column = dry.matrix<T>({plan.grid.rows, 1, plan.grid.tile}, MatrixPart::All);
    if (plan.options.condition) potrs(tasks, factor, column);
    if (plan.options.inverse_diagonal) submit_inverse_diag(tasks, factor, column, task_memory(plan.runtime));
  });
}

void emit_dry_check(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(dry);
    submit_potrf_residual(tasks, dry.matrix<T>(plan.grid, plan.part), dry.matrix<T>(plan.grid, plan.part),
                          task_memory(plan.runtime), dry.residual_data());
  });
}

void check_results(Options const& options, MatrixInput const& input) {
  if (processes() && (options.condition || options.inverse_diagonal)) {
    throw InvalidArgument(
        fmt::format("{} is for one process: leave it out", options.condition ? "--condition" : "--inverse-diagonal"));
  }
  if (!options.inverse_diagonal) return;
  auto const& file = *options.inverse_diagonal;
  check_output_name(file, inverse_dataset);
  check_output(file, input.file ? std::vector{input.file->path} : std::vector<std::string>{});
  check_apart("the diagonal of the inverse", file, options);
}

Plan make_plan(Options const& options) {
  auto const input = find_matrix(options.input, options);
  check_results(options, input);
  require_square(input);
  Plan plan{make_run_plan(options, {input}, options.upper ? MatrixPart::Upper : MatrixPart::Lower, factor_name(options),
                          TileKernels::Cholesky),
            options};
  require_space(plan, options.output, plan.bytes());
  auto need = dry_run(plan, emit_dry, emit_dry_check);
  DryRun results;
  emit_dry_results(results, plan);
  need.cover(results.need());
  require_memory(plan, need);
  return plan;
}

// For the report's bounds.
std::optional<Operations> operations_of(Plan const& plan) {
  return Operations{.emit = [&plan](DryRun& dry) { emit_dry(dry, plan); },
                    .io_bound = [&plan](Bytes memory) { return plan.io_bound(memory); },
                    .compulsory = plan.bytes()};
}

Bytes scratch(Plan const& plan) { return plan.options.output ? 0 : plan.bytes(); }

Report make_report(Plan const& plan, RunFigures const& figures) {
  auto const n = plan.grid.rows;
  Report report;
  report.line("matrix", fmt::format("n = {}, {}", n, name_of(plan.a.type)));
  report.value("n", n);
  report.add_run(plan, figures, plan.flops(),
                 {.bound = plan.io_bound(figures.all_memory()),
                  .nonsymmetric = cholesky_io_bound_nonsymmetric(n, figures.all_memory(), size_of(plan.a.type)),
                  .compulsory = plan.bytes(),
                  .reads_input = plan.a.file.has_value(),
                  .writes_output = plan.options.output.has_value()});
  return report;
}

// With an output, the check reads the file back.
template <class T>
void check(Plan const& plan, granary::app::Session& session, std::shared_ptr<Storage> const& source,
           ResultMatrix<T>& factor, Report& report) {
  auto a = add_file_matrix<T>(session.runtime().session(), plan.grid, plan.part, "A", source, nullptr);
  factor.read_back();
  session.check<T>(report,
                   {.n = plan.grid.rows,
                    .tasks = plan.check_tasks,
                    .flops = plan.flops(),
                    .formula = plan.options.upper ? "|A - U^H U| / (n eps |A|)"
                               : is_complex<T>    ? "|A - L L^H| / (n eps |A|)"
                                                  : "|A - L L^T| / (n eps |A|)"},
                   [&](TaskEmitter& tasks, ResidualData const& results) {
                     submit_potrf_residual(tasks, a, factor.tiles(), task_memory(plan.runtime), results);
                   });
  a.release(session.submitter());
}

template <class T>
void write_inverse_diagonal(Plan const& plan, granary::app::Session& session, TiledMatrix<T> const& factor) {
  auto& runtime = session.runtime();
  auto const sink = granary::make_sink(runtime.session(), *plan.options.inverse_diagonal,
                                       {.rows = plan.grid.rows,
                                        .cols = 1,
                                        .tile = plan.grid.tile,
                                        .scalar_type = scalar_type_of<T>,
                                        .part = MatrixPart::All,
                                        .dataset = inverse_dataset,
                                        .dimensions = 1});
  auto column = add_file_matrix<T>(runtime.session(), {plan.grid.rows, 1, plan.grid.tile}, MatrixPart::All,
                                   inverse_dataset, nullptr, sink);
  TaskEmitter tasks(session.submitter());
  submit_inverse_diag(tasks, factor, column, task_memory(plan.runtime));
  column.release(session.submitter());
  session.wait();
  commit_sink(runtime.session(), *sink);
}

// What the options ask about the matrix, from its factor.
template <class T>
void add_results(Plan const& plan, granary::app::Session& session, TiledMatrix<T> const& factor, double norm,
                 Report& report) {
  if (plan.options.logdet) {
    HostNumbers const logdet(session.runtime());
    TaskEmitter tasks(session.submitter());
    submit_logdet(tasks, factor, logdet.id());
    session.wait();
    double const value = logdet.values(session.runtime())[0];
    report.line("log determinant", fmt::format("{:.15g}", value));
    report.value("logdet", value);
  }
  if (plan.options.condition) {
    RuntimeCall const runtime(session.runtime(), SourceLine{});  // messages name no line of the program
    double const reciprocal = pocon(runtime, plan.options.uplo(), factor, static_cast<RealOf<T>>(norm));
    report.line("condition", reciprocal > 0 ? fmt::format("{:.3g}, an estimate in the 1-norm", 1 / reciprocal)
                                            : "singular to working precision");
    report.value("reciprocal_condition", reciprocal);
  }
  if (plan.options.inverse_diagonal) write_inverse_diagonal(plan, session, factor);
}

template <class T>
Report factor(Plan const& plan, granary::app::Session& session) {
  std::shared_ptr<Storage> const source = plan.a.open(plan.grid.tile, plan.part, session.runtime());
  ResultMatrix<T> factor(session, plan.grid, plan.part, factor_name(plan.options), source);
  HostNumbers const norm(session.runtime());
  auto const figures = session.run("factoring", plan.tasks, plan.flops(), [&] {
    emit_factorization(session.submitter(), factor.tiles(), norm.id(), plan);
    session.wait();
  });
  auto report = make_report(plan, figures);
  session.note(report, operations_of(plan));
  add_results(plan, session, factor.tiles(), plan.options.condition ? norm.values(session.runtime())[0] : 0, report);
  if (plan.check) check(plan, session, source, factor, report);
  factor.commit();
  return report;
}

void add_arguments(CommandLine& line, Options& options) {
  line.app()
      .add_option("INPUT", options.input,
                  "file.h5[:/dataset], file.npy or random:N[:seed]; only one triangle is read, the lower one unless "
                  "--upper")
      ->required();
  line.app().add_option("OUTPUT", options.output,
                        "HDF5 file for the factor, dataset L; without it the factor is dropped at the end");
  line.app().add_flag("--upper", options.upper, "factor A = U^H U: the upper triangle is read, dataset U is written");
  line.app().add_flag("--commuting", options.commuting,
                      "let the scheduler choose the order of the updates of a tile: with planned it moves a little "
                      "less, and the factor differs in rounding from run to run");
  line.app().add_flag("--logdet", options.logdet, "print the logarithm of the determinant");
  line.app().add_flag("--condition", options.condition, "print an estimate of the condition number in the 1-norm");
  line.app().add_option("--inverse-diagonal", options.inverse_diagonal,
                        "write the diagonal of the inverse, the variances of estimates, to this HDF5 file");
  line.add_run_options("measure the factor's residual, under the same memory limit");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      "granary-cholesky",
      [&](SignalWatch& signals) {
        Options options;
        CommandLine line("granary-cholesky",
                         "Cholesky factorization A = L L^H of a Hermitian (real: symmetric) positive definite matrix "
                         "that may be larger "
                         "than memory.",
                         options);
        add_arguments(line, options);
        if (!line.parse(argc, argv)) return;
        run_as_planned(options, signals, make_plan, operations_of, scratch,
                       []<class T>(Plan const& plan, granary::app::Session& session, std::type_identity<T>) {
                         return factor<T>(plan, session);
                       })
            .publish(options);
      },
      process_hooks(argv));
}
