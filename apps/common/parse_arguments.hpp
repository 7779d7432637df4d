// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

#include <CLI/CLI.hpp>

namespace granary::app {

/// Reads the command line; false when it asked for help or the version, which is printed then. Throws InvalidArgument
/// in CLI11's words for what it refuses.
inline bool parse_arguments(CLI::App& app, int argc, char const* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& request) {
    app.exit(request);
    return false;
  } catch (CLI::ParseError const& error) {
    throw InvalidArgument(error.what());
  }
  return true;
}

}  // namespace granary::app
