// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/policy_set.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace granary {

/// Makes a scheduler whose random draws, if it makes any, follow from the seed.
using SchedulerFactory = std::function<std::unique_ptr<Scheduler>(std::uint64_t seed)>;
using EvictionFactory = std::function<std::unique_ptr<EvictionPolicy>()>;

/// Makes a policy known by its name, granary's own and an application's alike. Throws InvalidArgument when the name is
/// empty or taken.
void register_scheduler(std::string name, SchedulerFactory factory);
void register_eviction(std::string name, EvictionFactory factory);

/// A new policy of that name; throws InvalidArgument, listing the known names, when there is none.
[[nodiscard]] std::unique_ptr<Scheduler> make_scheduler(std::string_view name, std::uint64_t seed = 0);
[[nodiscard]] std::unique_ptr<EvictionPolicy> make_eviction(std::string_view name);
[[nodiscard]] PolicySet make_policies(std::string_view scheduler, std::string_view eviction, std::uint64_t seed = 0);

/// The known names, sorted.
[[nodiscard]] std::vector<std::string> scheduler_names();
[[nodiscard]] std::vector<std::string> eviction_names();

/// Registers during static initialisation: a policy's source file holds one of these, and nothing else lists the
/// policy.
struct SchedulerRegistration {
  SchedulerRegistration(std::string name, SchedulerFactory factory) {
    register_scheduler(std::move(name), std::move(factory));
  }
};
struct EvictionRegistration {
  EvictionRegistration(std::string name, EvictionFactory factory) {
    register_eviction(std::move(name), std::move(factory));
  }
};

}  // namespace granary
