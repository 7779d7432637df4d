// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/io_bounds.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/residuals/residual.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>
#include <granary/detail/runtime/setup/configure.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "apps/common/lu_tasks.hpp"
#include "apps/common/planned_run.hpp"
#include "apps/common/program.hpp"
#include "apps/common/result_matrix.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

struct Options : RunOptions {
  std::string input;
  bool pivoting = true;
  bool commuting = false;
};

struct Plan : RunPlan {
  Options const& options;
  LuOptions lu = {};

  [[nodiscard]] double flops() const { return operations_on(a.type, lu_flops(grid.rows, grid.cols)); }
  [[nodiscard]] Bytes bytes() const { return grid.rows * grid.cols * size_of(a.type); }
  [[nodiscard]] Bytes io_bound(Bytes memory) const {
    return lu_io_bound(grid.rows, grid.cols, memory, size_of(a.type));
  }
};

template <class T>
void emit_lu(Submitter& submitter, TiledMatrix<T> const& a, PivotData const* pivots, LuOptions const& options) {
  TaskEmitter tasks(submitter);
  if (pivots != nullptr) {
    getrf(tasks, a, *pivots, options);
  } else {
    getrf_nopiv(tasks, a, options);
  }
}

void emit_dry(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    auto const pivots = dry_pivots(dry, plan.grid);
    auto const a = dry.matrix<T>(plan.grid, plan.part);
    auto options = plan.lu;
    if (options.growth) {
      options.growth = TileMaxima(plan.grid).bind([&](char const*, double&) { return dry.in_place(sizeof(double)); });
    }
    emit_lu(dry, a, plan.options.pivoting ? &pivots : nullptr, options);
  });
}

void emit_dry_check(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    auto const pivots = dry_pivots(dry, plan.grid);
    TaskEmitter tasks(dry);
    submit_getrf_residual(tasks, dry.matrix<T>(plan.grid, plan.part), dry.matrix<T>(plan.grid, plan.part),
                          plan.options.pivoting ? &pivots : nullptr, task_memory(plan.runtime), dry.residual_data());
  });
}

Plan make_plan(Options const& options) {
  if (options.commuting && options.pivoting) {
    throw InvalidArgument("--commuting needs --no-pivoting: row exchanges keep the updates of a tile in order");
  }
  if (options.pivoting && processes())
    throw InvalidArgument("several processes factor without row exchanges only: add --no-pivoting");
  auto const input = find_matrix(options.input, options);
  Plan plan{make_run_plan(options, {input}, MatrixPart::All, "LU",
                          options.pivoting ? TileKernels::PivotedLu : TileKernels::LuWithoutPivoting),
            options};
  plan.lu.inner_tile = plan.inner_tile;
  plan.lu.commuting = options.commuting;
  plan.lu.order = options.left_looking ? FactorOrder::LeftLooking : FactorOrder::RightLooking;
  // Always measured without pivoting: there the growth tells how accurate the factors are.
  if (options.check || !options.pivoting) plan.lu.growth.emplace();
  require_space(plan, options.output, plan.bytes());
  auto const count = [&] { return dry_run(plan, emit_dry, emit_dry_check); };
  require_memory(plan, options.pivoting ? choose_panels(plan.lu, plan, count) : count());
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
  auto const& grid = plan.grid;
  Report report;
  report.line("matrix", fmt::format("{} x {}, {}", grid.rows, grid.cols, name_of(plan.a.type)));
  report.value("m", grid.rows);
  report.value("n", grid.cols);
  add_pivoting(report, plan.options.pivoting, plan.lu, plan.grid);
  report.add_run(plan, figures, plan.flops(),
                 {.bound = plan.io_bound(figures.all_memory()),
                  .compulsory = plan.bytes(),
                  .reads_input = plan.a.file.has_value(),
                  .writes_output = plan.options.output.has_value()});
  return report;
}

// With an output, the check reads the file back.
template <class T>
void check(Plan const& plan, granary::app::Session& session, std::shared_ptr<Storage> const& source,
           ResultMatrix<T>& lu, PivotData const* pivots, Report& report) {
  auto a = add_file_matrix<T>(session.runtime().session(), plan.grid, plan.part, "A", source, nullptr);
  lu.read_back();
  session.check<T>(report,
                   {.n = plan.grid.cols,
                    .tasks = plan.check_tasks,
                    .flops = plan.flops(),
                    .formula = plan.options.pivoting ? "|P A - L U| / (n eps |A|)" : "|A - L U| / (n eps |A|)"},
                   [&](TaskEmitter& tasks, ResidualData const& results) {
                     submit_getrf_residual(tasks, a, lu.tiles(), pivots, task_memory(plan.runtime), results);
                   });
  a.release(session.submitter());
}

// Sets `zero_pivot` to the first, counted from 1: the factors are complete nevertheless.
template <class T>
Report factor(Plan const& plan, granary::app::Session& session, std::optional<std::uint64_t>& zero_pivot) {
  std::shared_ptr<Storage> const source = plan.a.open(plan.grid.tile, plan.part, session.runtime());
  RunPivots const pivots(session.runtime(), plan.grid, plan.options.pivoting);
  ResultMatrix<T> lu(session, plan.grid, plan.part, "LU", source);
  auto options = plan.lu;
  std::optional<RunGrowth> growth;
  if (options.growth) options.growth = growth.emplace(session.runtime(), plan.grid).data();
  auto const figures = session.run("factoring", plan.tasks, plan.flops(), [&] {
    emit_lu(session.submitter(), lu.tiles(), pivots.data(), options);
    session.wait();
  });
  // An overflow anywhere reaches these tiles: updates take it along its row and column.
  auto const last = plan.grid.diagonal() - 1;
  lu.require_finite("the factorization", [last](std::uint64_t i, std::uint64_t j) {
    return i == j || (i > last && j == last) || (j > last && i == last);
  });
  zero_pivot = pivots.zero_pivot();
  auto report = make_report(plan, figures);
  if (growth) {
    auto const ratio = growth->value(session.runtime()).ratio();
    report.line("pivot growth", fmt::format("{:.3g} = max |U| / max |A|", ratio));
    report.value("growth", ratio);
    growth.reset();
  }
  if (zero_pivot) {
    report.line("zero pivot", fmt::format("U({0}, {0}), counted from 1", *zero_pivot));
    report.value("zero_pivot", *zero_pivot);
  }
  session.note(report, operations_of(plan));
  if (plan.check) check(plan, session, source, lu, pivots.data(), report);
  lu.commit([&](MatrixSink& output) {
    if (plan.options.pivoting) output.add_vector("pivots", pivots.rows());
  });
  return report;
}

void add_arguments(CommandLine& line, Options& options) {
  line.app()
      .add_option(
          "INPUT", options.input,
          "file.h5[:/dataset], file.npy, or a generated matrix: general:N[:seed], general:MxN[:seed], random:N[:seed] "
          "(positive definite)")
      ->required();
  line.app().add_option("OUTPUT", options.output,
                        "HDF5 file for the factors, datasets LU and pivots in LAPACK's form; without it they "
                        "are dropped at the end");
  line.app().add_flag_callback(
      "--no-pivoting", [&options] { options.pivoting = false; },
      "factor A = L U: for matrices that need no row exchanges, such as diagonally dominant ones");
  line.app().add_flag(
      "--commuting", options.commuting,
      "with --no-pivoting: let the scheduler choose the order of the updates of a tile: with planned it "
      "moves a little less, and the factors differ in rounding from run to run");
  line.add_run_options("measure the residual of the factors and the pivot growth, under the same memory limit");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      "granary-lu",
      [&](SignalWatch& signals) {
        Options options;
        CommandLine line(
            "granary-lu",
            "LU factorization P A = L U of a matrix that may be rectangular and larger than memory, with partial "
            "pivoting if a panel fits in memory, else with tournaments.",
            options);
        add_arguments(line, options);
        if (!line.parse(argc, argv)) return;
        std::optional<std::uint64_t> zero_pivot;
        run_as_planned(options, signals, make_plan, operations_of, scratch,
                       [&]<class T>(Plan const& plan, granary::app::Session& session, std::type_identity<T>) {
                         return factor<T>(plan, session, zero_pivot);
                       })
            .publish(options);
        if (!zero_pivot) return;
        Singular const singular(*zero_pivot);
        throw Error(singular.what() + std::string(options.output ? "; the factors are complete, in " + *options.output
                                                                 : "; the factors are complete"));
      },
      process_hooks(argv));
}
