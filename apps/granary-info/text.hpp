// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace granary::app {

/// What `describe_machine` found, for people.
[[nodiscard]] std::string text_of(nlohmann::ordered_json const& description);

}  // namespace granary::app
