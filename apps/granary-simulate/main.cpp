// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "experiment.hpp"
#include "options.hpp"
#include "output.hpp"

namespace {

using namespace granary;

// Exit statuses: 1 failed; 2 bad input.
int fail(int status, std::string const& message) {
  std::fflush(stdout);
  fmt::print(stderr, "granary-simulate: {}\n", message);
  return status;
}

void run(app::Options const& options) {
  std::size_t widest = std::size("scheduler") - 1;
  for (auto const& scheduler : options.schedulers) widest = std::max(widest, scheduler.size());
  std::vector<app::Result> results;
  app::run_experiment(options, [&](app::Result const& result) {
    if (results.empty()) {
      fmt::print("{} on {}, {} precision, {} tasks\n{}", result.algorithm, result.platform,
                 result.single_precision ? "single" : "double", result.tasks, app::table_header(widest));
    }
    fmt::print("{}", app::table_row(result, widest));
    std::fflush(stdout);
    results.push_back(result);
  });
  if (options.json) app::write_file(*options.json, app::format_json(results));
  if (options.csv) app::write_file(*options.csv, app::format_csv(results));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    auto const options = app::parse_options(argc, argv);
    if (!options) return 0;
    if (options->list) {
      fmt::print("{}", app::format_known());
    } else {
      run(*options);
    }
    return 0;
  } catch (InvalidArgument const& error) {
    return fail(2, error.what());
  } catch (std::bad_alloc const&) {
    return fail(1, "the system has no memory left");
  } catch (std::exception const& error) {
    return fail(1, error.what());
  }
}
