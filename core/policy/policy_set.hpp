// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/core/policy/scheduler.hpp>

#include <memory>

namespace granary {

/// The policies of one run.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// granary::PolicySet policies = granary::make_policies("dmda", "lru");
/// policies.eviction = granary::make_eviction("luf");  // the same scheduler with another eviction policy
/// ```
struct GRANARY_EXPORT PolicySet {
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<EvictionPolicy> eviction;
};

}  // namespace granary
