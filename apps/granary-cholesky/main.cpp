// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>

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
};

struct Plan : RunPlan {
  Options const& options;

  [[nodiscard]] double flops() const { return operations_on(a.type, cholesky_flops(grid.rows)); }
  [[nodiscard]] Bytes bytes() const { return cholesky_compulsory(grid.rows, size_of(a.type)); }
  [[nodiscard]] Bytes io_bound(Bytes memory) const { return cholesky_io_bound(grid.rows, memory, size_of(a.type)); }
};

std::string factor_name(Options const& options) { return options.upper ? "U" : "L"; }

template <class T>
void emit_factorization(Submitter& submitter, TiledMatrix<T> const& a, Plan const& plan) {
  TaskEmitter tasks(submitter);
  tasks.set_inner_tile(plan.inner_tile);
  potrf(tasks, a,
        {.order = plan.options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking,
         .commuting = plan.options.commuting});
}

void emit_dry(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    emit_factorization(dry, dry.matrix<T>(plan.grid, plan.part), plan);
  });
}

void emit_dry_check(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(dry);
    submit_potrf_residual(tasks, dry.matrix<T>(plan.grid, plan.part), dry.matrix<T>(plan.grid, plan.part),
                          task_memory(plan.runtime), dry.residual_data());
  });
}

Plan make_plan(Options const& options) {
  auto const input = find_matrix(options.input, options);
  require_square(input);
  Plan plan{make_run_plan(options, {input}, options.upper ? MatrixPart::Upper : MatrixPart::Lower, factor_name(options),
                          TileKernels::Cholesky),
            options};
  require_space(plan, options.output, plan.bytes());
  require_memory(plan, dry_run(plan, emit_dry, emit_dry_check));
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
Report factor(Plan const& plan, granary::app::Session& session) {
  std::shared_ptr<Storage> const source = plan.a.open(plan.grid.tile, plan.part, session.runtime());
  ResultMatrix<T> factor(session, plan.grid, plan.part, factor_name(plan.options), source);
  auto const figures = session.run("factoring", plan.tasks, plan.flops(), [&] {
    emit_factorization(session.submitter(), factor.tiles(), plan);
    session.wait();
  });
  auto report = make_report(plan, figures);
  session.note(report, operations_of(plan));
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
