// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/register_auto.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/common/print.hpp"
#include "apps/common/program.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "output.hpp"

namespace {

using namespace granary;
using namespace granary::detail;

void run(app::Options const& options) {
  std::size_t widest = std::size("scheduler") - 1;
  for (auto const& scheduler : options.schedulers) widest = std::max(widest, scheduler.size());
  std::vector<app::Result> results;
  app::run_experiment(options, [&](app::Result const& result) {
    results.push_back(result);
    if (!options.prints_table()) return;
    if (results.size() == 1) {
      auto const grid = result.grid ? fmt::format("{} x {} processes of ", result.grid->rows(), result.grid->columns())
                                    : std::string();
      fmt::print("{} on {}{}, {} precision, {} tasks\n{}", result.algorithm, grid, result.platform,
                 name_of(result.precision), result.tasks, app::table_header(widest));
    }
    fmt::print("{}", app::table_row(result, widest));
    app::flush_output();
  });
  if (options.json) app::write_text(*options.json, app::format_json(results));
  if (options.csv) app::write_text(*options.csv, app::format_csv(results));
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_program("granary-simulate", [&](SignalWatch&) {
    register_auto();
    auto const options = app::parse_options(argc, argv);
    if (!options) return;
    if (options->list) {
      fmt::print("{}", app::format_known());
    } else {
      run(*options);
    }
  });
}
