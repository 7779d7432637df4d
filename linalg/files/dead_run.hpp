// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/partial_file.hpp>

namespace granary::detail {

/// Logs a warning where the output replaced what a dead run had left of it.
void warn_of_dead_run(PartialFile const& output);

}  // namespace granary::detail
