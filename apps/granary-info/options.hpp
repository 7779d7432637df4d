// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/runtime/config.hpp>

#include <optional>
#include <string>

namespace granary::app {

/// What the command line asks for.
struct InfoOptions {
  std::optional<std::string> json;  ///< a file, or "-" for standard output
  bool measure = false;             ///< the links anew
  RuntimeOptions runtime;
};

/// Reads the command line. Prints help or versions and returns nothing where that is asked for; throws InvalidArgument.
[[nodiscard]] std::optional<InfoOptions> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
