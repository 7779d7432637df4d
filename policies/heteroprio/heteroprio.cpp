// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/heteroprio/heteroprio_buckets.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_spoliation.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <memory>

namespace granary::detail {
namespace {

/// Heteroprio (LAHeteroprio, section "Heteroprio"; Static, section VI): one bucket of ready tasks per operation, an
/// order of buckets per kind of worker, and speed-up factors that keep slow workers away from the last tasks of a
/// bucket.
///
/// As in Static, buckets of similar acceleration are merged (HP+CGV), and slow workers take the least urgent task of
/// buckets that fast ones visit first. A slow worker starts only tasks that the fast ones would not end sooner, see
/// HeteroprioBuckets; SpoliatingHeteroprio takes them back instead.
class HeteroprioScheduler final : public Scheduler {
 public:
  explicit HeteroprioScheduler(HeteroprioOptions options) : m_buckets(std::move(options)) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override { m_buckets.put(task, 0); }
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId) override {
    if (why == Withdrawal::Cancelled) m_buckets.remove(task);
  }

 private:
  SystemView const* m_view = nullptr;
  HeteroprioBuckets m_buckets;
};

SchedulerRegistration const heteroprio_registration(
    "heteroprio",
    [](PolicyOptions& options) {
      using Spoliating = SpoliatingHeteroprio;
      std::vector<std::string> const rules{"sp", "pp", "pc", "pcep", "pcept"};
      auto const chosen = options.choice("spoliation", "none", {"none", "sp", "pp", "pc", "pcep", "pcept"});
      if (chosen == "none") {
        return std::unique_ptr<Scheduler>(std::make_unique<HeteroprioScheduler>(HeteroprioOptions::read(options)));
      }
      auto const rule = static_cast<Spoliating::Rules>(std::ranges::find(rules, chosen) - rules.begin());
      return std::unique_ptr<Scheduler>(
          std::make_unique<Spoliating>(rule, HeteroprioOptions::read(options, Spoliating::defaults(rule))));
    },
    {.in_auto = {.place_if_data_fit = 4, .place_if_larger = 6, .only_if_kinds_differ = true}});
}  // namespace

void HeteroprioScheduler::attach(SystemView const& view, PlanBoard&) {
  m_view = &view;
  m_buckets.attach(view, 1);
}

TaskId HeteroprioScheduler::next(GroupId group) {
  if (!m_buckets.look_for(group)) return {};
  for (auto const& level : m_buckets.levels(m_view->topology().group(group).kind)) {
    TaskId const task = m_buckets.first(level, 0, group, {});
    if (!task.valid()) continue;
    m_buckets.remove(task);
    return task;
  }
  return {};
}

}  // namespace granary::detail