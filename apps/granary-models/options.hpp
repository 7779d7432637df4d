// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

namespace granary::app {

enum class Action { List, Show, Erase };

/// Options of the command line.
struct Options {
  Action action = Action::List;
  std::string directory;               ///< of the models of all machines
  std::string machine;                 ///< the id of one
  std::optional<std::string> codelet;  ///< for show and erase
  bool all = false;                    ///< for erase
};

/// Parses the command line. Returns nothing after printing help or the version on request; throws InvalidArgument.
[[nodiscard]] std::optional<Options> parse_options(int argc, char const* const* argv);

}  // namespace granary::app
