// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace granary {

/// Creates a policy from the options.
using SchedulerFactory = std::function<std::unique_ptr<Scheduler>(PolicyOptions& options)>;
using EvictionFactory = std::function<std::unique_ptr<EvictionPolicy>(PolicyOptions& options)>;

/// Registers a policy under a name, granary's own or an application's. Throws InvalidArgument when the name is empty,
/// used already or contains one of ":=+,". `eviction` is the scheduler's default eviction policy; one that
/// `needs_options` is refused by its factory without them, and not among `scheduler_names`.
GRANARY_EXPORT void register_scheduler(std::string name, SchedulerFactory factory, std::string eviction = "lru",
                                       bool needs_options = false);
GRANARY_EXPORT void register_eviction(std::string name, EvictionFactory factory);

/// Creates a policy from `name` or `name:key=value:key=value`. Throws InvalidArgument, with the known names or options,
/// when there is no such name or option. `make_policies` also knows a scheduler's own eviction policies
/// (Scheduler::own_eviction).
///
/// ```cpp
/// for (auto const& name : granary::scheduler_names()) {
///   auto const policies = granary::make_policies(name, granary::default_eviction(name));
///   std::printf("%s %s priorities\n", name.c_str(), policies.scheduler->heeds_priorities() ? "uses" : "ignores");
/// }
/// ```
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<Scheduler> make_scheduler(std::string_view specification,
                                                                       std::uint64_t seed = 0);
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<EvictionPolicy> make_eviction(std::string_view specification);
[[nodiscard]] GRANARY_EXPORT PolicySet make_policies(std::string_view scheduler, std::string_view eviction,
                                                     std::uint64_t seed = 0);

/// The default eviction policy of a scheduler; throws as `make_scheduler`.
[[nodiscard]] GRANARY_EXPORT std::string default_eviction(std::string_view scheduler);

/// The names of the schedulers that need no options, sorted.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> scheduler_names();
/// The same, with those that need some.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> all_scheduler_names();
/// The known names, sorted.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> eviction_names();

/// Registers during static initialisation: a policy's source file contains one of these; no other list of policies
/// exists.
struct GRANARY_EXPORT SchedulerRegistration {
  SchedulerRegistration(std::string name, SchedulerFactory factory, std::string eviction = "lru",
                        bool needs_options = false) {
    register_scheduler(std::move(name), std::move(factory), std::move(eviction), needs_options);
  }
};
struct GRANARY_EXPORT EvictionRegistration {
  EvictionRegistration(std::string name, EvictionFactory factory) {
    register_eviction(std::move(name), std::move(factory));
  }
};

}  // namespace granary
