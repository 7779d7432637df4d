// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/policies/schedulers/dmda_base.hpp>

#include <algorithm>
#include <limits>
#include <memory>

namespace granary {
namespace {

/// The dynamic HEFT variants (Static, section V): a ready task joins the queue of the group that is expected to
/// complete it first, given when a worker there is free of all that runs or waits, and the task's running time there.
/// `heft` keeps the queues in the order of release, `heftp` by priority, for which submit bottom levels over each
/// task's shortest time. Equal priorities: the order of release.
///
/// The paper does not say how transfers count. Here their time is added to the completion, although they may overlap
/// with what runs before, since they occupy links; so `heft` is the rule of `dmda`, and `heftp` that of `dmdas` without
/// *Ready*. On mirage (Cholesky, 32 tiles) that moves a third less than max(start, transfers) and is as fast. Expected
/// starts follow from what really runs: errors of the estimates are not carried on. There is no insertion into gaps as
/// in the static HEFT: a queue of ready tasks has none.
class HeftScheduler final : public DmdaBase {
 public:
  HeftScheduler(PolicyOptions& options, bool by_priority) : DmdaBase(options), m_by_priority(by_priority) {}
  [[nodiscard]] bool heeds_priorities() const override { return m_by_priority; }

 private:
  [[nodiscard]] std::int64_t rank(Task const& task) const override {
    return m_by_priority ? -std::max(task.priority, -std::numeric_limits<std::int64_t>::max()) : 0;
  }

  bool m_by_priority;
};

SchedulerRegistration const heft("heft", [](PolicyOptions& options) {
  return std::make_unique<HeftScheduler>(options, false);
});
SchedulerRegistration const heftp("heftp", [](PolicyOptions& options) {
  return std::make_unique<HeftScheduler>(options, true);
});

}  // namespace
}  // namespace granary
