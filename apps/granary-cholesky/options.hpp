// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/runtime/config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace granary::app {

/// What the command line asks for; what it does not say is absent, or empty where Runtime has a default.
struct Options {
  std::string input;
  std::optional<std::string> output;
  std::optional<std::uint64_t> tile;
  std::optional<std::string> json;
  RuntimeOptions runtime;
  bool left_looking = false;
  bool single_precision = false;  ///< random matrices only
  bool check = false;
  bool quiet = false;
};

/// Reads the command line. Prints help or versions and returns nothing where that is asked for; throws InvalidArgument.
[[nodiscard]] std::optional<Options> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
