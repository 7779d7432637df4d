// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/policy/eviction_policy.hpp>
#include <granary/core/policy/scheduler.hpp>

#include <memory>

namespace granary {

/// The policies of one run.
struct GRANARY_EXPORT PolicySet {
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<EvictionPolicy> eviction;
};

}  // namespace granary
