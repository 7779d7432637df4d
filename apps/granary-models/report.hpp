// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "options.hpp"

namespace granary::app {

/// The machines that have a file of models, a line each; a damaged file is named as such.
[[nodiscard]] std::string list_machines(Options const& options);

/// A table of the machine's models and links. Throws InvalidArgument for a codelet that is not known, naming those that
/// are, and DataError for a damaged file.
[[nodiscard]] std::string show_models(Options const& options);

/// Erases, and says what. Throws as `show_models`; a damaged file can be erased with --all.
[[nodiscard]] std::string erase_models(Options const& options);

}  // namespace granary::app
