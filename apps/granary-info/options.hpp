// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/runtime/setup/options.hpp>

#include <optional>
#include <string>

namespace granary::app {

/// Options of the command line.
struct InfoOptions {
  std::optional<std::string> json;  ///< a file, or "-" for standard output
  bool measure = false;             ///< measure the links again
  std::optional<std::string> blas;  ///< choose_blas has loaded it
  RuntimeOptions runtime;
};

/// Parses the command line. Returns nothing after printing help or versions on request; throws InvalidArgument.
[[nodiscard]] std::optional<InfoOptions> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
