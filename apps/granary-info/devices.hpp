// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/runtime/setup/devices.hpp>

#include <nlohmann/json.hpp>

#include "options.hpp"

namespace granary::app {

/// The devices that a run with these options would use, or the reason why there are none.
[[nodiscard]] nlohmann::ordered_json describe_devices(RuntimeOptions const& options, Devices const& devices);

/// The links as a run with these options would know them: measured once if the runtime would measure, or again.
[[nodiscard]] nlohmann::ordered_json describe_links(InfoOptions const& options, Devices const& devices);

}  // namespace granary::app
