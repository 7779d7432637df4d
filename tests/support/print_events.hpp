// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/event.hpp>

#include "support/acts.hpp"

#include <string>

namespace granary::test {

using namespace detail;

/// One line without line end, for debugging a failed case.
[[nodiscard]] std::string to_text(Event const& event);
[[nodiscard]] std::string to_text(Act const& act);

}  // namespace granary::test
