// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

namespace granary::app {

enum class Action { List, Show, Erase };

/// What the command line asks for.
struct Options {
  Action action = Action::List;
  std::string directory;               ///< of the models of all machines
  std::string machine;                 ///< the id of one
  std::optional<std::string> codelet;  ///< show and erase
  bool all = false;                    ///< erase
};

/// Reads the command line. Prints help or the version and returns nothing where that is asked for; throws
/// InvalidArgument.
[[nodiscard]] std::optional<Options> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
