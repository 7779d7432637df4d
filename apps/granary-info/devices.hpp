// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/runtime/machine.hpp>

#include <nlohmann/json.hpp>

#include "options.hpp"

namespace granary::app {

/// The devices that a run with these options would use, or why there are none.
[[nodiscard]] nlohmann::ordered_json describe_devices(RuntimeOptions const& options, Devices const& devices);

/// What a run with these options would know of its links; measured once where the runtime would, or anew.
[[nodiscard]] nlohmann::ordered_json describe_links(InfoOptions const& options, Devices const& devices);

}  // namespace granary::app
