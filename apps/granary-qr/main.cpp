// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/matrix_ops.hpp>
#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/algorithms/panel_qr.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/runtime/setup/configure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/common/planned_run.hpp"
#include "apps/common/program.hpp"
#include "apps/common/result_matrix.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

struct Options : RunOptions {
  std::string input;
};

struct Plan : RunPlan {
  Options const& options;
  PanelQrOptions qr = {};

  [[nodiscard]] std::uint64_t reflectors() const { return std::min(grid.rows, grid.cols); }
  [[nodiscard]] TileGrid taus() const { return {reflectors(), 1, grid.tile}; }
  [[nodiscard]] Bytes bytes() const { return grid.rows * grid.cols * size_of(a.type); }
  [[nodiscard]] double flops() const {
    auto const m = static_cast<double>(grid.rows), n = static_cast<double>(grid.cols), k = std::min(m, n);
    return operations_on(a.type, 4 * k * (m * n - k * (m + n) / 2 + k * k / 3));
  }
};

template <class T>
void emit_qr(Submitter& submitter, TiledMatrix<T> const& a, TiledMatrix<T> const& tau, PanelQrOptions const& options) {
  TaskEmitter tasks(submitter);
  submit_geqrf(tasks, a, tau, make_triangles<T>(submitter, a.grid()), options);
}

// ‖R - Q^H A‖₁ and ‖A‖₁, as LAPACK's xQRT01.
template <class T>
void emit_residual(TaskEmitter& tasks, TiledMatrix<T> const& a, TiledMatrix<T> const& qr, TiledMatrix<T> const& tau,
                   ResidualData const& results) {
  auto& submitter = tasks.submitter();
  auto product = make_temporary_matrix<T>(submitter, a.grid(), MatrixPart::All, "product");
  copy(tasks, a, product);
  auto const triangles = make_triangles<T>(submitter, a.grid());
  submit_triangles(tasks, qr, tau, triangles);
  submit_unmqr(tasks, Op::ConjTrans, qr, triangles, product);
  for (std::uint64_t j = 0; j < a.grid().tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < std::min(j + 1, a.grid().tile_rows()); ++i) {
      tiles::add<T>(tasks.at(i, j), i == j ? MatrixPart::Upper : MatrixPart::All, T(-1), qr(i, j), T(1), product(i, j));
    }
  }
  submit_lange(tasks, Norm::One, product, results.residual);
  submit_lange(tasks, Norm::One, a, results.norm);
  product.release(submitter);
}

template <class T>
TiledMatrix<T> dry_taus(DryRun& dry, Plan const& plan) {
  return TiledMatrix<T>(plan.taus(), MatrixPart::All, TileLayout::ColumnMajor, [&](std::uint64_t i, std::uint64_t) {
    return dry.in_place(plan.taus().rows_in(i) * sizeof(T));
  });
}

void emit_dry(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    emit_qr(dry, dry.matrix<T>(plan.grid, plan.part), dry_taus<T>(dry, plan), plan.qr);
  });
}

void emit_dry_check(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(dry);
    emit_residual(tasks, dry.matrix<T>(plan.grid, plan.part), dry.matrix<T>(plan.grid, plan.part),
                  dry_taus<T>(dry, plan), dry.residual_data());
  });
}

// Narrower while the memory does not hold a column with its copies and another one, and, of a matrix that is larger,
// while fewer than four columns get their updates together: all vectors are read for each group.
void narrow_columns(Plan& plan) {
  constexpr std::uint64_t smallest = 32, smallest_for_groups = 256, step = 32, group = 4;
  auto const memory = task_memory(plan.runtime);
  auto const element = size_of(plan.a.type);
  auto& tile = plan.grid.tile;
  auto const groups = [&] {
    return plan.bytes() <= memory || fit_columns(plan.grid, element, memory).columns >= group;
  };
  // Multiples of 32 bypass the page cache.
  auto const narrower = [&](std::uint64_t least) { return std::max(least, (tile - 1) / step * step); };
  auto const before = tile;
  while (tile > smallest && !panels_fit(plan.grid, element, memory)) tile = narrower(smallest);
  while (tile > smallest_for_groups && !groups()) tile = narrower(smallest_for_groups);
  if (tile != before) plan.tile_chosen_by = "memory";
}

Plan make_plan(Options const& options) {
  if (processes()) throw InvalidArgument("granary-qr runs as one process: start it without mpirun");
  auto const input = find_matrix(options.input, options);
  Plan plan{make_run_plan(options, {input}, MatrixPart::All, "QR", TileKernels::Others), options};
  if (!options.tile) narrow_columns(plan);
  plan.qr = fit_columns(plan.grid, size_of(plan.a.type), task_memory(plan.runtime));
  if (options.left_looking) plan.qr.order = FactorOrder::LeftLooking;
  require_space(plan, options.output, plan.bytes());
  require_memory(plan, dry_run(plan, emit_dry, emit_dry_check));
  return plan;
}

// For the report's bounds.
std::optional<Operations> operations_of(Plan const& plan) {
  return Operations{.emit = [&plan](DryRun& dry) { emit_dry(dry, plan); },
                    .io_bound = [](Bytes) { return Bytes{0}; },
                    .compulsory = plan.bytes()};
}

Bytes scratch(Plan const& plan) { return plan.options.output ? 0 : plan.bytes(); }

Report make_report(Plan const& plan, RunFigures const& figures) {
  auto const& grid = plan.grid;
  bool const left = plan.qr.order == FactorOrder::LeftLooking;
  Report report;
  report.line("matrix", fmt::format("{} x {}, {}", grid.rows, grid.cols, name_of(plan.a.type)));
  report.line("order", left ? fmt::format("left-looking, {} tile columns together", plan.qr.columns) : "right-looking");
  report.value("m", grid.rows);
  report.value("n", grid.cols);
  report.value("order", left ? "left-looking" : "right-looking");
  report.value("columns_together", left ? plan.qr.columns : 1);
  report.add_run(plan, figures, plan.flops(),
                 {.bound = 0,
                  .compulsory = plan.bytes(),
                  .reads_input = plan.a.file.has_value(),
                  .writes_output = plan.options.output.has_value()});
  return report;
}

// The factors of the reflectors, in the program's memory.
template <class T>
class Taus {
 public:
  Taus(Plan const& plan, Runtime& runtime)
      : m_numbers(std::make_shared<std::vector<T>>(plan.reflectors())),
        m_data(runtime.submitter()),
        m_tiles(plan.taus(), MatrixPart::All, TileLayout::ColumnMajor, [&](std::uint64_t i, std::uint64_t) {
          auto const grid = plan.taus();
          auto* const first = reinterpret_cast<std::byte*>(m_numbers->data() + grid.first(i));
          return m_data.own(runtime.session().add_data(tile_name("tau", i, 0), grid.rows_in(i) * sizeof(T),
                                                       {.memory = first, .keep = m_numbers}));
        }) {}
  [[nodiscard]] TiledMatrix<T> const& tiles() const { return m_tiles; }
  [[nodiscard]] std::vector<T> const& numbers() const { return *m_numbers; }

 private:
  std::shared_ptr<std::vector<T>> m_numbers;
  OwnedData m_data;
  TiledMatrix<T> m_tiles;
};

template <class T>
Report factor(Plan const& plan, granary::app::Session& session) {
  std::shared_ptr<Storage> const source = plan.a.open(plan.grid.tile, plan.part, session.runtime());
  Taus<T> const tau(plan, session.runtime());
  ResultMatrix<T> qr(session, plan.grid, plan.part, "QR", source);
  auto const figures = session.run("factoring", plan.tasks, plan.flops(), [&] {
    emit_qr(session.submitter(), qr.tiles(), tau.tiles(), plan.qr);
    session.wait();
  });
  qr.require_finite("the factorization", [](std::uint64_t i, std::uint64_t j) { return i == j; });
  auto report = make_report(plan, figures);
  session.note(report, operations_of(plan));
  if (plan.check) {
    auto a = add_file_matrix<T>(session.runtime().session(), plan.grid, plan.part, "A", source, nullptr);
    qr.read_back();
    session.check<T>(
        report,
        {.n = plan.grid.rows, .tasks = plan.check_tasks, .flops = plan.flops(), .formula = "|R - Q^H A| / (m eps |A|)"},
        [&](TaskEmitter& tasks, ResidualData const& results) {
          emit_residual(tasks, a, qr.tiles(), tau.tiles(), results);
        });
    a.release(session.submitter());
  }
  qr.commit([&](MatrixSink& output) {
    output.add_vector("tau", scalar_type_of<T>, std::as_bytes(std::span(tau.numbers())));
  });
  return report;
}

void add_arguments(CommandLine& line, Options& options) {
  line.app()
      .add_option("INPUT", options.input,
                  "file.h5[:/dataset], file.npy, or a generated matrix: general:N[:seed], general:MxN[:seed]")
      ->required();
  line.app().add_option("OUTPUT", options.output,
                        "HDF5 file for the factors, datasets QR and tau in LAPACK's form; without it they are dropped "
                        "at the end");
  line.add_run_options("measure the residual of the factors, under the same memory limit");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      "granary-qr",
      [&](SignalWatch& signals) {
        Options options;
        CommandLine line("granary-qr",
                         "QR factorization A = Q R of a matrix that may be rectangular and larger than memory.",
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
