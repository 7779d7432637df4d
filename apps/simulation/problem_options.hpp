// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/simulator/platform.hpp>

#include <CLI/CLI.hpp>

#include <string>

#include "problem.hpp"

namespace granary::app {

/// Adds the options that give a platform and an algorithm or a graph.
void add_problem_options(CLI::App& app, ProblemOptions& options);
/// Adds those that describe the algorithm.
void add_algorithm_options(CLI::App& app, ProblemOptions& options);
/// Throws InvalidArgument if they contradict each other or a name is unknown; `--graph` implies the algorithm graph.
void check_problem_options(ProblemOptions& options);

/// Platform::find; a file that cannot be read is a wrong argument.
[[nodiscard]] Platform find_platform(std::string const& name);

}  // namespace granary::app
