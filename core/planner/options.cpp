// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/core/planner/options.hpp>

#include <string>

namespace granary {

BookingPolicy booking_policy(std::string_view name) {
  for (auto const policy : {BookingPolicy::Ours, BookingPolicy::Paper, BookingPolicy::None}) {
    if (name == name_of(policy)) return policy;
  }
  throw InvalidArgument("unknown booking policy '" + std::string(name) + "'; there are none, ours and paper");
}

}  // namespace granary
