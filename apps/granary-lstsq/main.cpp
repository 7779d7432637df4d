// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/algorithms/least_squares.hpp>
#include <granary/detail/linalg/algorithms/tall_qr.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/fold_rows.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/runtime/setup/configure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/check_options.hpp"
#include "apps/common/planned_run.hpp"
#include "apps/common/print.hpp"
#include "apps/common/program.hpp"
#include "csv_blocks.hpp"
#include "fit.hpp"
#include "model.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

struct Options : RunOptions {
  std::string data;
  std::optional<std::string> second;
  ModelOptions model;
  std::string predictors, responses, weights, separator;
  bool header = false;
  double ridge = 0;
  bool drop_dependent = false;
  std::optional<std::string> coefficients;

  [[nodiscard]] CsvOptions csv() const {
    char const character = separator.empty() ? '\0' : separator == "tab" ? '\t' : checked_separator(separator);
    return {.columns = {}, .separator = character, .header = header, .any_names = true};
  }
};

struct Plan : RunPlan {
  Options const& options;
  std::optional<MatrixInput> b;
  Model model;

  [[nodiscard]] std::uint64_t order() const { return model.columns(); }
  [[nodiscard]] Bytes bytes_of_data() const {
    auto const columns = a.cols + (b ? b->cols : 0);
    return a.rows * columns * size_of(a.type);
  }
  [[nodiscard]] double flops() const {
    auto const n = static_cast<double>(order());
    return 2 * static_cast<double>(a.rows) * n * n;
  }
  [[nodiscard]] std::uint64_t chains() const {
    auto const block = bytes_of_data() / a.rows * grid.rows_in(0);
    return tall_qr_chains(a.rows, order(), size_of(a.type), block, task_memory(runtime));
  }
  // Blocks of a CSV file in memory.
  [[nodiscard]] std::uint64_t ring() const { return 2 * *runtime.workers + 2; }
  [[nodiscard]] std::vector<TileGrid> grids() const {
    // A block of a CSV file has whole rows.
    std::vector<TileGrid> grids{{a.rows, a.cols, a.csv ? std::max(grid.tile, a.cols) : grid.tile}};
    if (b) grids.push_back({b->rows, b->cols, grid.tile});
    return grids;
  }
};

// Blocks of rows for which the work on R is small, of which memory holds a ring; whole chunks of a file whose chunks
// are rows.
std::uint64_t choose_rows(Plan const& plan) {
  constexpr Bytes usual_block = 2_MiB;
  Bytes const row = std::max<Bytes>(1, plan.bytes_of_data() / plan.a.rows);
  Bytes const room = task_memory(plan.runtime) / 2 / (2 * plan.ring());
  auto const fitting = std::max<std::uint64_t>(1, room / row);
  auto const& file = plan.a.file;
  if (file && file->chunk_cols >= plan.a.cols && file->chunk_rows >= plan.a.cols && file->chunk_rows <= fitting)
    return file->chunk_rows;
  auto const wanted = std::max<std::uint64_t>({usual_block / row, plan.order() / 2, 8});
  // Each worker gets some.
  auto const share = std::max<std::uint64_t>(1, plan.a.rows / (4 * std::max(1U, *plan.runtime.workers)));
  // Rows of fewer would take a page for each column.
  constexpr std::uint64_t fewest = 32;
  auto const rows = std::max(fewest, std::min({wanted, fitting, std::max(share, plan.order())}));
  return std::min(rows / 8 * 8, plan.a.rows);
}

template <class T>
void emit(TaskEmitter& tasks, Plan const& plan, std::vector<TiledMatrix<T>> const& matrices, TileRef const& r) {
  TallQr<T> qr(tasks, form_of(plan.grids(), plan.model.choice), r, plan.chains());
  std::optional<CsvBlocks> text;
  if constexpr (std::is_same_v<T, double>) {
    if (plan.a.csv) text.emplace(tasks, *plan.a.csv, plan.grid.tile, plan.ring());
  }
  for (std::uint64_t i = 0; i < plan.grid.tile_rows(); ++i) {
    std::vector<TileRef> row;
    if (text) row.push_back(text->read(i));
    for (auto const& matrix : matrices) {
      for (std::uint64_t j = 0; j < matrix.grid().tile_cols(); ++j) row.push_back(matrix(i, j));
    }
    qr.fold(row, plan.grid.first(i));
  }
  qr.join();
}

TileRef triangle_tile(Plan const& plan, DataId data) {
  auto const order = to_int32(plan.order(), "columns");
  return {{order, order, order, TileLayout::ColumnMajor}, data};
}

void emit_dry(DryRun& dry, Plan const& plan) {
  with_scalar(plan.a.type, [&]<class T>(std::type_identity<T>) {
    TaskEmitter tasks(dry);
    std::vector<TiledMatrix<T>> matrices;
    auto const grids = plan.grids();
    if (!plan.a.csv) matrices.push_back(dry.matrix<T>(grids[0], MatrixPart::All));
    if (plan.b) matrices.push_back(dry.matrix<T>(grids[1], MatrixPart::All));
    emit<T>(tasks, plan, matrices, triangle_tile(plan, dry.in_place(plan.order() * plan.order() * sizeof(T))));
  });
}

// What the triangle needs beside the memory of tiles: itself, in double precision too, its inverse and a copy, and the
// workspaces of workers. A part that the documents promise does not count.
void count_triangles(Plan& plan) {
  constexpr Bytes beside_limit = 32_MiB;
  Bytes const triangle = plan.order() * plan.order() * sizeof(double);
  auto const order = to_int32(plan.order(), "columns");
  Bytes const workspaces = *plan.runtime.workers * kernels::fold_workspace<double>(order) * sizeof(double);
  Bytes const all = round_up(4 * triangle + workspaces, 4096);
  auto& limit = plan.runtime.host_memory;
  Bytes const counted = all - std::min(all, beside_limit);
  if (counted > limit / 2) {
    throw MemoryLimitError(fmt::format(
        "{} columns of predictors and responses need {} for their triangles, more than half of the memory limit of {}: "
        "choose fewer, or use a limit of at least {} (--memory)",
        plan.order(), format_bytes(counted), format_bytes(limit), format_bytes(2 * counted)));
  }
  if (counted > 0) plan.records_of = "triangles and records of tiles";
  plan.records += counted;
  limit -= counted;
}

Plan make_plan(Options const& options) {
  if (!(options.ridge >= 0 && std::isfinite(options.ridge)))
    throw InvalidArgument("--ridge must be a finite number from 0 on");
  if (processes()) throw InvalidArgument("granary-lstsq runs as one process: start it without mpirun");
  auto a = find_table(options.data, options, options.csv());
  std::optional<MatrixInput> b;
  if (options.second) b = find_columns(*options.second, a.type);
  auto choice = options.model;
  choice.fewer_rows = options.ridge > 0 || options.drop_dependent;
  auto model = make_model(choice, a, b ? &*b : nullptr);
  std::vector<MatrixInput> inputs{a};
  if (b) inputs.push_back(*b);
  if (options.coefficients && !is_standard_output(*options.coefficients)) {
    std::vector<std::string> files;
    for (auto const& input : inputs) {
      if (!input.is_generated()) files.push_back(input.path());
    }
    check_text_output(*options.coefficients, files);
  }
  if (options.coefficients) check_apart("the coefficients", *options.coefficients, options);
  Plan plan{make_run_plan(options, inputs, MatrixPart::All, "", TileKernels::Others), options, b, std::move(model)};
  count_triangles(plan);
  if (!options.tile) {
    plan.grid.tile = choose_rows(plan);
    plan.tile_chosen_by = "memory";
  }
  require_memory(plan, dry_run(plan, emit_dry, emit_dry));
  return plan;
}

std::optional<Operations> operations_of(Plan const&) { return std::nullopt; }
Bytes scratch(Plan const&) { return 0; }

template <class T>
class Run {
 public:
  Run(Plan const& plan, granary::app::Session& session)
      : m_plan(plan),
        m_session(session),
        m_triangle(std::make_shared<std::vector<T>>(plan.order() * plan.order())),
        m_data(session.submitter()) {
    m_data.own(session.runtime().session().add_data(
        "triangle", m_triangle->size() * sizeof(T),
        {.memory = reinterpret_cast<std::byte*>(m_triangle->data()), .keep = m_triangle}));
  }

  Report perform() {
    auto const figures = m_session.run("fitting", m_plan.tasks, m_plan.flops(), [&] {
      TaskEmitter tasks(m_session.submitter());
      auto matrices = open_matrices();
      emit<T>(tasks, m_plan, matrices, triangle_tile(m_plan, m_data[0]));
      for (auto& matrix : matrices) matrix.release(m_session.submitter());
      m_session.wait();
    });
    auto const fit = fit_model(m_plan.model, m_plan.a.rows,
                               {.ridge = m_plan.options.ridge,
                                .drop_dependent = m_plan.options.drop_dependent,
                                .tolerance = rank_tolerance<T>(m_plan.a.rows, m_plan.model.predictors.size())},
                               in_double());
    auto report = make_report(figures, fit);
    if (m_plan.options.coefficients) write_text(*m_plan.options.coefficients, coefficients_as_csv(m_plan.model, fit));
    return report;
  }

 private:
  std::vector<TiledMatrix<T>> open_matrices() {
    std::vector<TiledMatrix<T>> matrices;
    auto const grids = m_plan.grids();
    auto const add = [&](MatrixInput const& input, TileGrid const& grid) {
      std::shared_ptr<Storage> const source = input.open(grid.tile, MatrixPart::All, m_session.runtime());
      matrices.push_back(
          add_file_matrix<T>(m_session.runtime().session(), grid, MatrixPart::All, input.name, source, nullptr));
    };
    if (!m_plan.a.csv) add(m_plan.a, grids[0]);
    if (m_plan.b) add(*m_plan.b, grids[1]);
    return matrices;
  }
  TileView<double> in_double() {
    auto const order = to_int32(m_plan.order(), "columns");
    m_double.assign(m_triangle->size(), 0);
    TileView<double> const to{m_double.data(), order, order, order};
    kernels::copy<T, double>(MatrixPart::Upper, false, TileView<T const>{m_triangle->data(), order, order, order}, to);
    return to;
  }
  Report make_report(RunFigures const& figures, Fit const& fit) const {
    auto const& plan = m_plan;
    Report report;
    report.line("data", fmt::format("{}, {} rows, {}", plan.a.name, plan.a.rows, name_of(plan.a.type)));
    report.value("rows", plan.a.rows);
    report.value("weighted", plan.model.weighted);
    report.value("ridge", plan.options.ridge);
    add_fit(report, plan.model, fit);
    report.add_run(plan, figures, plan.flops(),
                   {.bound = plan.bytes_of_data(),
                    .compulsory = plan.bytes_of_data(),
                    .compulsory_written = 0,
                    .reads_input = plan.a.file.has_value(),
                    .writes_output = false});
    return report;
  }

  Plan const& m_plan;
  granary::app::Session& m_session;
  std::shared_ptr<std::vector<T>> m_triangle;
  OwnedData m_data;
  std::vector<double> m_double;
};

void add_arguments(CommandLine& line, Options& options) {
  auto& app = line.app();
  app.add_option("DATA", options.data,
                 "a row for each observation: file.csv, file.h5[:/dataset], file.npy, or general:NxK")
      ->required();
  app.add_option("RESPONSES", options.second,
                 "the responses, one in each column, if they are in another file: HDF5, .npy or general:NxK");
  app.add_option("--response", options.responses,
                 "the response, or several, by names or numbers of columns of DATA: y, or 1,3-5");
  app.add_option("--predictors", options.predictors, "likewise the predictors (default: all other columns)");
  app.add_flag("--intercept", options.model.intercept, "add a column of ones, whose coefficient is the intercept");
  app.add_option("--weights", options.weights, "column of weights of the observations, none negative");
  app.add_option("--ridge", options.ridge,
                 "add this times the sum of the squares of the coefficients, without the intercept");
  app.add_flag("--drop-dependent", options.drop_dependent,
               "leave out each predictor that is a combination of those before it");
  app.add_option("--coefficients", options.coefficients,
                 "write the coefficients to this CSV file, with standard errors; -: to standard output");
  app.add_option("--separator", options.separator,
                 "CSV: the character between fields, or tab (default: a tab, ; or , whichever the first line has)");
  app.add_flag("--header", options.header, "CSV: the first line is a header even if it has numbers");
  line.add_common_options();
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      "granary-lstsq",
      [&](SignalWatch& signals) {
        Options options;
        CommandLine line("granary-lstsq",
                         "Fits a linear model by least squares to data that may be larger than memory, reading them "
                         "once.",
                         options);
        add_arguments(line, options);
        if (!line.parse(argc, argv)) return;
        if (!options.responses.empty()) options.model.responses = split_csv_line(options.responses);
        if (!options.weights.empty()) options.model.weights = split_csv_line(options.weights);
        if (!options.predictors.empty()) options.model.predictors = split_csv_line(options.predictors);
        run_as_planned(options, signals, make_plan, operations_of, scratch,
                       []<class T>(Plan const& plan, granary::app::Session& session, std::type_identity<T>) -> Report {
                         if constexpr (is_complex<T>) {
                           throw InternalError("complex data were accepted");
                         } else {
                           return Run<T>(plan, session).perform();
                         }
                       })
            .publish(options);
      },
      process_hooks(argv));
}
