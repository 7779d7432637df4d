// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/partial_file.hpp>

namespace granary::detail {

/// Logs a warning if the output replaced the partial file of a killed run.
void warn_of_dead_run(PartialFile const& output);

}  // namespace granary::detail
