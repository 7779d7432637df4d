// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result.hpp"

#include <algorithm>

namespace granary::app {

double Result::ratio() const {
  auto const bound = std::max(io_bound, compulsory);
  auto const came = figures.host_to_device + figures.device_to_device;
  return bound == 0 ? 0 : static_cast<double>(came) / static_cast<double>(bound);
}

}  // namespace granary::app
