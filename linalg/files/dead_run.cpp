// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/dead_run.hpp>

#include <spdlog/spdlog.h>

namespace granary::detail {

void warn_of_dead_run(PartialFile const& output) {
  if (!output.replaced_a_dead_one()) return;
  spdlog::warn("granary: removed {}, left by a run that was killed", output.partial_path());
}

}  // namespace granary::detail
