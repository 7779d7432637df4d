// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/options.hpp>

#include <string>

namespace granary {

BookingOptions booking_named(std::string_view name) {
  for (auto const policy :
       {BookingOptions::Policy::Ours, BookingOptions::Policy::Paper, BookingOptions::Policy::None}) {
    if (name == name_of(policy)) return {.policy = policy};
    for (auto const estimate :
         {BookingOptions::Estimate::Bold, BookingOptions::Estimate::Factor, BookingOptions::Estimate::Safe}) {
      if (name == std::string(name_of(policy)) + ":" + std::string(name_of(estimate)))
        return {.policy = policy, .estimate = estimate};
    }
  }
  throw InvalidArgument("unknown booking '" + std::string(name) +
                        "'; there are none, ours and paper, with :bold, :factor or :safe behind them");
}

}  // namespace granary
