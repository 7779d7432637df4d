// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>

#include <CLI/CLI.hpp>

namespace granary::app {

/// Parses the command line. Returns false after printing help or the version on request. Throws InvalidArgument with
/// CLI11's message.
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
