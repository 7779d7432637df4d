// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/registry.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace granary {
namespace {

struct NoFacts {};

// `Facts`: what is known of a policy beside its factory.
template <class Factory, class Facts>
class Registry {
 public:
  struct Entry {
    Factory factory;
    Facts facts = {};
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

  [[nodiscard]] std::vector<std::string> names() const {
    std::scoped_lock const lock(m_mutex);
    std::vector<std::string> result;
    for (auto const& [name, entry] : m_factories) result.push_back(name);
    return result;
  }

 private:
  std::string m_kind;
  mutable std::mutex m_mutex;
  std::map<std::string, Entry, std::less<>> m_factories;
};

// Local statics: policies in other source files register during static initialisation.
Registry<detail::SchedulerFactory, detail::SchedulerEntry>& schedulers() {
  static Registry<detail::SchedulerFactory, detail::SchedulerEntry> registry("scheduler");
  return registry;
}

Registry<detail::EvictionFactory, NoFacts>& evictions() {
  static Registry<detail::EvictionFactory, NoFacts> registry("eviction policy");
  return registry;
}

}  // namespace

void register_scheduler(std::string name, detail::SchedulerFactory factory, detail::SchedulerEntry entry) {
  schedulers().add(std::move(name), {std::move(factory), std::move(entry)});
}
void register_eviction(std::string name, detail::EvictionFactory factory) {
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
  if (auto* const meta = dynamic_cast<MetaScheduler*>(policies.scheduler.get()))
    policies.eviction = meta->own_eviction(eviction);
  if (policies.eviction) {
    policies.eviction->set_policy_name(std::string(eviction));
  } else {
    policies.eviction = make_eviction(eviction);
  }
  return policies;
}

detail::SchedulerEntry scheduler_entry(std::string_view scheduler) {
  return schedulers().find(PolicyOptions(scheduler).policy()).facts;
}

std::string default_eviction(std::string_view scheduler) { return scheduler_entry(scheduler).eviction; }

std::vector<std::string> scheduler_names() {
  auto names = all_scheduler_names();
  std::erase_if(names, [](auto const& name) { return scheduler_entry(name).needs_options; });
  return names;
}
std::vector<std::string> all_scheduler_names() { return schedulers().names(); }
std::vector<std::string> eviction_names() { return evictions().names(); }

}  // namespace granary
