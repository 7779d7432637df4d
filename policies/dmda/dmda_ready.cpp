// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/dmda/dmda.hpp>
#include <granary/detail/policies/dmda/ready_order.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {

/// DMDA with queues reordered by *Ready* (DARTS, Algorithms 1 and 2): a group takes the first of its queued tasks that
/// needs the fewest bytes brought to its node. Algorithm 2 ignores priorities. Here rank() comes before the bytes, or
/// decides between tasks that need equally many.
class DmdaReady final : public DmdaScheduler, public SystemEvents {
 public:
  DmdaReady(PolicyOptions& options, bool by_priority, ReadyOrder::By by)
      : DmdaScheduler(options, by_priority), m_order(by) {}
  void attach(SystemView const& view, PlanBoard& board) override {
    DmdaScheduler::attach(view, board);
    m_order.attach(view, board);
  }
  void finished(TaskId task) override {
    DmdaScheduler::finished(task);
    m_order.touch_all(view().task(task), view().topology().group(view().assignment(task).group).node);
  }
  void replica_expected(DataId data, NodeId node) override { m_order.touch(data, node); }
  void replica_valid(DataId data, NodeId node) override { m_order.touch(data, node); }
  void replica_dropped(DataId data, NodeId node) override { m_order.touch(data, node); }

 private:
  [[nodiscard]] TaskId choose(GroupId group) override { return m_order.first(group); }
  void joined(Task const& task, GroupId group) override { m_order.add(task, group, rank(task)); }
  void leaves(Task const& task, GroupId group) override {
    m_order.remove(task.id, group);
    m_order.touch_all(task, view().topology().group(group).node);  // its data will be brought there
  }

  ReadyOrder m_order;
};

/// DMDAR: *Ready* over the whole queue of the group; among tasks that need equally many bytes, the first released one.
SchedulerRegistration const dmdar_registration("dmdar", [](PolicyOptions& options) {
  return std::make_unique<DmdaReady>(options, false, ReadyOrder::By::Rank);
});

/// DMDAS (DARTS, section 4.2): DMDA with queues sorted by priority, and *Ready* (Algorithm 2).
///
/// Option:
///   ready  `head` (the default): *Ready* chooses among the tasks that have the priority of the queue's head, as in
///          StarPU. `all`: it searches the whole queue, as Algorithm 2 reads; the priority decides between tasks that
///          need equally many bytes. Where few tasks share a priority, as with the bottom levels of a Cholesky
///          factorization, `head` leaves *Ready* little choice, and `all` is close to dmdar. `none`: the head runs, as
///          with `heftp`.
SchedulerRegistration const dmdas_registration(
    "dmdas",
    [](PolicyOptions& options) -> std::unique_ptr<Scheduler> {
      auto const ready = options.choice("ready", "head", {"head", "all", "none"});
      if (ready == "none") return std::make_unique<DmdaScheduler>(options, true);
      return std::make_unique<DmdaReady>(options, true,
                                         ready == "all" ? ReadyOrder::By::MissingBytes : ReadyOrder::By::Rank);
    },
    {.in_auto = {
         .place_if_data_fit = 1, .place_if_larger = 4, .start = SchedulerEntry::AutoUse::Start::OnSeveralMemories}});

}  // namespace
}  // namespace granary::detail
