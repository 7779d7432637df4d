// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/policy/policy_set.hpp>

#include <cstdint>
#include <memory>

namespace granary::test {

/// What two policies of one run have done wrong.
struct Misdeeds {
  bool thrown = false;       ///< an exception, from any function
  bool answered = false;     ///< what the contract forbids
  bool kept_back = false;    ///< tasks, which is allowed for a while
  bool asked_after = false;  ///< they were called although one of them had thrown or answered wrongly

  [[nodiscard]] bool any() const { return thrown || answered; }
};

/// The policies, which break their contract at a random call, in a way that depends on the seed: they throw, keep tasks
/// back, or answer tasks and data that they must not name. Both are called 'mischief'.
[[nodiscard]] PolicySet mischievous(PolicySet policies, std::uint64_t seed,
                                    std::shared_ptr<Misdeeds> misdeeds = std::make_shared<Misdeeds>());

}  // namespace granary::test
