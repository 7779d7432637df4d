// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "options.hpp"

namespace granary::app {

/// The description that granary-info prints; docs/info.md documents the keys. Sizes are in bytes, times in seconds;
/// unknown or unlimited values are null. Throws InvalidArgument for devices that do not exist.
[[nodiscard]] nlohmann::ordered_json describe_machine(InfoOptions const& options);

}  // namespace granary::app
