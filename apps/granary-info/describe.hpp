// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "options.hpp"

namespace granary::app {

/// Everything that granary-info says; the keys are documented in docs/info.md. Sizes are in bytes, times in seconds;
/// what is not known or not limited is null. Throws InvalidArgument for devices that there are not.
[[nodiscard]] nlohmann::ordered_json describe_machine(InfoOptions const& options);

}  // namespace granary::app
