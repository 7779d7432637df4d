// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary {

namespace detail {

/// Creates a policy from the options.
using SchedulerFactory = std::function<std::unique_ptr<Scheduler>(PolicyOptions& options)>;

using EvictionFactory = std::function<std::unique_ptr<EvictionPolicy>(PolicyOptions& options)>;

/// What the registry knows of a scheduler beside its factory.
struct GRANARY_EXPORT SchedulerEntry {
  /// How `auto` uses the scheduler.
  struct AutoUse {
    enum class Start : std::uint8_t { Never, UntilMeasured, OnOneMemory, OnSeveralMemories };
    /// Its place in the order in which `auto` tries schedulers, if all data fit in memory and if they do not: 1 is the
    /// likeliest one. 0: it is not tried.
    int place_if_data_fit = 0;
    int place_if_larger = 0;
    bool only_if_kinds_differ = false;  ///< tried only where there are several kinds of workers
    /// `auto` begins a run with it: until the codelets of its first tasks were measured, or if they were, by the number
    /// of memories that the workers use. Of several, the first by name.
    Start start = Start::Never;
    std::string eviction = {};  ///< the eviction policy with it; empty: the default one
  };
  std::string eviction = "lru";  ///< its default eviction policy
  bool needs_options = false;    ///< its factory refuses it without options, and `scheduler_names` does not list it
  bool counts_tasks = false;  ///< it numbers the tasks of which it is told: in mid-run, also of those that groups have
  AutoUse in_auto = {};
};

}  // namespace detail

/// Registers a policy under a name, granary's own or an application's. Throws InvalidArgument when the name is empty,
/// used already or contains one of ":=+,".
GRANARY_EXPORT void register_scheduler(std::string name, detail::SchedulerFactory factory,
                                       detail::SchedulerEntry entry = {});
template <std::convertible_to<std::string> Text>
[[deprecated("use register_scheduler(name, factory, {.eviction = …, .needs_options = …})")]]  //
void register_scheduler(std::string name, detail::SchedulerFactory factory, Text eviction, bool needs_options = false) {
  register_scheduler(std::move(name), std::move(factory),
                     detail::SchedulerEntry{.eviction = std::move(eviction), .needs_options = needs_options});
}
GRANARY_EXPORT void register_eviction(std::string name, detail::EvictionFactory factory);

/// Creates a policy from `name` or `name:key=value:key=value`. Throws InvalidArgument, with the known names or options,
/// when there is no such name or option. `make_policies` also knows a scheduler's own eviction policies
/// (MetaScheduler::own_eviction).
///
/// ```cpp
/// for (auto const& name : granary::scheduler_names()) {
///   auto const policies = granary::make_policies(name, granary::default_eviction(name));
///   bool const heeds = policies.scheduler->traits().heeds_priorities;
///   std::printf("%s %s priorities\n", name.c_str(), heeds ? "uses" : "ignores");
/// }
/// ```
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<Scheduler> make_scheduler(std::string_view specification,
                                                                       std::uint64_t seed = 0);
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<EvictionPolicy> make_eviction(std::string_view specification);
[[nodiscard]] GRANARY_EXPORT PolicySet make_policies(std::string_view scheduler, std::string_view eviction,
                                                     std::uint64_t seed = 0);

/// The entry of a scheduler, whose name may have options; throws as `make_scheduler`.
[[nodiscard]] GRANARY_EXPORT detail::SchedulerEntry scheduler_entry(std::string_view scheduler);
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
  SchedulerRegistration(std::string name, detail::SchedulerFactory factory, detail::SchedulerEntry entry = {}) {
    register_scheduler(std::move(name), std::move(factory), std::move(entry));
  }
  template <std::convertible_to<std::string> Text>
  [[deprecated("use SchedulerRegistration(name, factory, {.eviction = …, .needs_options = …})")]]  //
  SchedulerRegistration(std::string name, detail::SchedulerFactory factory, Text eviction, bool needs_options = false)
      : SchedulerRegistration(std::move(name), std::move(factory),
                              detail::SchedulerEntry{.eviction = std::move(eviction), .needs_options = needs_options}) {
  }
};
struct GRANARY_EXPORT EvictionRegistration {
  EvictionRegistration(std::string name, detail::EvictionFactory factory) {
    register_eviction(std::move(name), std::move(factory));
  }
};

}  // namespace granary
