// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/room.hpp"

#include <granary/detail/core/base/partial_file.hpp>

namespace granary::app {

std::string place_of(std::string const& file) { return detail::follow_links(file); }

void require_scratch(RuntimeOptions const& options, std::size_t devices, Bytes values) {
  Bytes const held = options.host_memory + devices * options.device_memory;
  if (values <= held) return;
  detail::require_space(options.scratch, "the scratch file in " + options.scratch + " (--scratch)", values - held,
                        values - held);
}

}  // namespace granary::app
