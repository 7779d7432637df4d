// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem_options.hpp"

#include <granary/detail/core/base/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/common/parse_arguments.hpp"
#include "make_workload.hpp"

namespace granary::app {

void add_problem_options(CLI::App& app, ProblemOptions& options) {
  app.add_option("--platform", options.platform, "a shipped platform's name, or a file (docs/platforms.md)");
  app.add_option("--algorithm", options.algorithm, fmt::format("one of {}", fmt::join(algorithm_names(), ", ")))
      ->capture_default_str();
  app.add_option("--graph", options.graph,
                 "task graph to schedule, JSON (docs/simulate.md); implies --algorithm graph");
}

void add_algorithm_options(CLI::App& app, ProblemOptions& options) {
  app.add_option("--inner-tile", options.inner_tile,
                 "cholesky, lu: sub-tile size; large tasks may run as finer graphs on several cores, "
                 "docs/hierarchical.md (default: none)")
      ->transform(whole_number(0));
  app.add_flag("--commuting", options.commuting,
               "cholesky, lu, gemm: the updates of a tile may run in any order that the scheduler chooses");
  app.add_option("--precision", options.precision, "s, d, c or z: single, double, complex single or complex double")
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "stencil, stencil-z: iterations")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--dimensions", options.dimensions, "stencil: 2 or 3")
      ->capture_default_str()
      ->transform(whole_number(2, 3));
  app.add_option("--levels", options.levels, "tree: levels")->capture_default_str()->transform(whole_number(1, 16));
  app.add_option("--graph-seed", options.graph_seed, "random, random-dag, tree, cholesky-growing: seed of the graph")
      ->capture_default_str()
      ->transform(whole_number(0));
}

void check_problem_options(ProblemOptions& options) {
  if (!precision_of_letter(options.precision)) {
    throw InvalidArgument("unknown precision '" + options.precision + "': use s, d, c or z");
  }
  if (options.graph) options.algorithm = "graph";
  check_algorithm(options.algorithm);
  if (options.algorithm == "graph" && !options.graph) {
    throw InvalidArgument("the algorithm graph needs a file: --graph FILE");
  }
  bool const factorization = options.algorithm.starts_with("cholesky") || options.algorithm.starts_with("lu");
  if (options.inner_tile != 0 && !factorization) {
    throw InvalidArgument("--inner-tile is for Cholesky and LU factorizations, not " + options.algorithm);
  }
  if (options.commuting && !factorization && !options.algorithm.starts_with("gemm")) {
    throw InvalidArgument("--commuting is for Cholesky and LU factorizations and products, not " + options.algorithm);
  }
}

Platform find_platform(std::string const& name) {
  try {
    return Platform::find(name);
  } catch (IoError const& error) {
    throw InvalidArgument(error.what());
  }
}

}  // namespace granary::app
