// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace granary::app {

/// Reads the command line; false when it asked for help or the version, which is printed then. Throws InvalidArgument,
/// in CLI11's words for what it refuses, and for a value that is empty: no option gives that a meaning, and it is
/// mostly a variable of a script that was not set.
bool parse_arguments(CLI::App& app, int argc, char const* const* argv);

}  // namespace granary::app
