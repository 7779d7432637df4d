// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "options.hpp"

namespace granary::app {

/// The machines that have a file of models, one per line; damaged files are marked.
[[nodiscard]] std::string list_machines(Options const& options);

/// A table of the machine's models and links. Throws InvalidArgument for an unknown codelet, with the known ones, and
/// DataError for a damaged file.
[[nodiscard]] std::string show_models(Options const& options);

/// Erases models, and returns a message about them. Throws like `show_models`; --all also erases a damaged file.
[[nodiscard]] std::string erase_models(Options const& options);

}  // namespace granary::app
