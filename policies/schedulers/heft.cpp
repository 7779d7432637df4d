// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/policies/schedulers/dmda_base.hpp>
#include <granary/policies/schedulers/priority_rank.hpp>

#include <memory>

namespace granary {
namespace {

/// The dynamic HEFT variants (Static, section V): a ready task joins the queue of the group with the earliest expected
/// completion, which is the time at which a worker there has finished all running and waiting tasks, plus the task's
/// run time there. `heft` keeps the queues in the order of release, `heftp` by priority (submit bottom levels over each
/// task's shortest time), equal priorities by release.
///
/// The paper does not say how transfers count. Here their time is added to the completion although transfers may
/// overlap with earlier tasks, since they occupy links. So `heft` is the rule of `dmda`, and `heftp` that of `dmdas`
/// without *Ready*. On mirage (Cholesky, 32 tiles) this moves a third fewer bytes than max(start, transfers) and is as
/// fast. Expected starts follow from the tasks that really run, so errors of the estimates do not accumulate. There is
/// no insertion into gaps as in the static HEFT: a queue of ready tasks has none.
class HeftScheduler final : public DmdaBase {
 public:
  HeftScheduler(PolicyOptions& options, bool by_priority) : DmdaBase(options), m_by_priority(by_priority) {}
  [[nodiscard]] bool heeds_priorities() const override { return m_by_priority; }

 private:
  [[nodiscard]] std::int64_t rank(Task const& task) const override {
    return m_by_priority ? priority_rank(task.priority) : 0;
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
