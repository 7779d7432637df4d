// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace granary::app {

/// The option --load: shared libraries that register policies.
void add_load_option(CLI::App& app, std::vector<std::string>& libraries);

/// Loads them; they stay loaded. Throws InvalidArgument if one cannot be loaded.
void load_policies(std::vector<std::string> const& libraries);

}  // namespace granary::app
