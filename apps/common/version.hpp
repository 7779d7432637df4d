// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace granary::app {

/// The versions of granary and of what it was built with, a line each.
[[nodiscard]] std::string version_text();

}  // namespace granary::app
