// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/policy_set.hpp>
#include <granary/policies/policy_options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Makes a policy; asks the options for what it understands.
using SchedulerFactory = std::function<std::unique_ptr<Scheduler>(PolicyOptions& options)>;
using EvictionFactory = std::function<std::unique_ptr<EvictionPolicy>(PolicyOptions& options)>;

/// Makes a policy known by its name, granary's own and an application's alike. Throws InvalidArgument when the name is
/// empty, taken or contains one of ":=+,".
/// `eviction`: the eviction policy that goes with the scheduler unless the user names one.
void register_scheduler(std::string name, SchedulerFactory factory, std::string eviction = "lru");
void register_eviction(std::string name, EvictionFactory factory);

/// A new policy as specified, `name` or `name:key=value:key=value`; throws InvalidArgument, listing the known ones,
/// when there is no such name or option.
[[nodiscard]] std::unique_ptr<Scheduler> make_scheduler(std::string_view specification, std::uint64_t seed = 0);
[[nodiscard]] std::unique_ptr<EvictionPolicy> make_eviction(std::string_view specification);
[[nodiscard]] PolicySet make_policies(std::string_view scheduler, std::string_view eviction, std::uint64_t seed = 0);

/// The eviction policy that goes with a scheduler; throws as `make_scheduler`.
[[nodiscard]] std::string default_eviction(std::string_view scheduler);

/// The known names, sorted.
[[nodiscard]] std::vector<std::string> scheduler_names();
[[nodiscard]] std::vector<std::string> eviction_names();

/// Registers during static initialisation: a policy's source file holds one of these, and nothing else lists the
/// policy.
struct SchedulerRegistration {
  SchedulerRegistration(std::string name, SchedulerFactory factory, std::string eviction = "lru") {
    register_scheduler(std::move(name), std::move(factory), std::move(eviction));
  }
};
struct EvictionRegistration {
  EvictionRegistration(std::string name, EvictionFactory factory) {
    register_eviction(std::move(name), std::move(factory));
  }
};

}  // namespace granary

#pragma GCC visibility pop
