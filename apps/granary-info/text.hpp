// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace granary::app {

/// The result of `describe_machine` as text.
[[nodiscard]] std::string text_of(nlohmann::ordered_json const& description);

}  // namespace granary::app
