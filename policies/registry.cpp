// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace granary {
namespace {

template <class Factory>
class Registry {
 public:
  struct Entry {
    Factory factory;
    std::string companion = {};  // of a scheduler: its default eviction policy
    bool needs_options = false;
  };

  explicit Registry(std::string kind) : m_kind(std::move(kind)) {}

  void add(std::string name, Entry entry) {
    if (name.empty()) throw InvalidArgument("the name of the new " + m_kind + " is empty");
    if (name.find_first_of(":=+,") != std::string::npos) {
      throw InvalidArgument("the name '" + name + "' of the new " + m_kind + " contains one of ':=+,'");
    }
    if (!entry.factory) throw InvalidArgument("the " + m_kind + " '" + name + "' has no factory");
    std::scoped_lock const lock(m_mutex);
    auto const [known, added] = m_factories.try_emplace(std::move(name), std::move(entry));
    if (!added) throw InvalidArgument("the " + m_kind + " '" + known->first + "' is registered already");
  }

  [[nodiscard]] Entry find(std::string_view name) const {
    std::scoped_lock const lock(m_mutex);
    auto const found = m_factories.find(name);
    if (found != m_factories.end()) return found->second;
    std::string known;
    for (auto const& [other, factory] : m_factories) known += (known.empty() ? "" : ", ") + other;
    throw InvalidArgument("unknown " + m_kind + " '" + std::string(name) + "': the known ones are " + known);
  }

  [[nodiscard]] auto make(std::string_view specification, std::uint64_t seed) const {
    PolicyOptions options(specification, seed);
    auto policy = find(options.policy()).factory(options);
    options.refuse_unknown();
    if (policy) policy->set_policy_name(std::string(options.policy()));
    return policy;
  }

  [[nodiscard]] std::vector<std::string> names(bool all) const {
    std::scoped_lock const lock(m_mutex);
    std::vector<std::string> result;
    for (auto const& [name, entry] : m_factories) {
      if (all || !entry.needs_options) result.push_back(name);
    }
    return result;
  }

 private:
  std::string m_kind;
  mutable std::mutex m_mutex;
  std::map<std::string, Entry, std::less<>> m_factories;
};

// Local statics: policies in other source files register during static initialisation.
Registry<SchedulerFactory>& schedulers() {
  static Registry<SchedulerFactory> registry("scheduler");
  return registry;
}

Registry<EvictionFactory>& evictions() {
  static Registry<EvictionFactory> registry("eviction policy");
  return registry;
}

}  // namespace

void register_scheduler(std::string name, SchedulerFactory factory, std::string eviction, bool needs_options) {
  schedulers().add(std::move(name), {std::move(factory), std::move(eviction), needs_options});
}
void register_eviction(std::string name, EvictionFactory factory) {
  evictions().add(std::move(name), {std::move(factory)});
}

std::unique_ptr<Scheduler> make_scheduler(std::string_view specification, std::uint64_t seed) {
  return schedulers().make(specification, seed);
}
std::unique_ptr<EvictionPolicy> make_eviction(std::string_view specification) {
  return evictions().make(specification, 0);
}

PolicySet make_policies(std::string_view scheduler, std::string_view eviction, std::uint64_t seed) {
  PolicySet policies{.scheduler = make_scheduler(scheduler, seed), .eviction = nullptr};
  policies.eviction = policies.scheduler->own_eviction(eviction);
  if (policies.eviction) {
    policies.eviction->set_policy_name(std::string(eviction));
  } else {
    policies.eviction = make_eviction(eviction);
  }
  return policies;
}

std::string default_eviction(std::string_view scheduler) {
  return schedulers().find(PolicyOptions(scheduler).policy()).companion;
}

std::vector<std::string> scheduler_names() { return schedulers().names(false); }
std::vector<std::string> all_scheduler_names() { return schedulers().names(true); }
std::vector<std::string> eviction_names() { return evictions().names(true); }

}  // namespace granary
