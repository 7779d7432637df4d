// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/dmda/dmda.hpp>
#include <granary/detail/policies/dmda/look_ahead.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace granary::detail {
namespace {

/// `heftp:look=let|gb|mms`: before a task joins a queue, the schedule of `heftp` is simulated with what is known of the
/// submitted tasks, and may put the task on a core: LookAhead. Without both cores and devices, and for tasks that only
/// one kind runs, it is `heftp`; tasks that become ready at once are queued by priority. A task that a device lane gets
/// behind the one that it waits for is not simulated.
class LookingScheduler final : public DmdaScheduler {
 public:
  LookingScheduler(PolicyOptions& options, LookAhead::Rule rule) : DmdaScheduler(options, true), m_look(rule) {}

  void attach(SystemView const& view, PlanBoard& board) override {
    DmdaScheduler::attach(view, board);
    m_look.attach(view, board, starts(), work());
    for (std::uint32_t g = 0; g < view.topology().groups().size(); ++g)
      m_of_kind[static_cast<std::size_t>(view.topology().groups()[g].kind)].insert(GroupId(g));
  }
  void submitted(TaskId task) override {
    queue_new();
    if (m_look.active()) m_look.tasks().submitted(task);
  }
  void ready(TaskId task) override { m_new.push_back(task); }
  TaskId next(GroupId group) override {
    queue_new();
    return DmdaScheduler::next(group);
  }
  bool hand_over(TaskId task, GroupId group) override {
    queue_new();
    return DmdaScheduler::hand_over(task, group);
  }
  void finished(TaskId task) override {
    queue_new();
    DmdaScheduler::finished(task);
    if (m_look.active()) m_look.tasks().finished(task);
  }
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override {
    if (std::erase(m_new, task) == 0) DmdaScheduler::withdrawn(task, why, group);
    if (m_look.active() && why != Withdrawal::InputEvicted) m_look.tasks().cancelled(task);
  }

 private:
  // Tasks that became ready at once are queued by priority, as in the paper.
  void queue_new() {
    std::ranges::stable_sort(m_new, {}, [&](TaskId task) { return priority_rank(view().task(task).priority); });
    for (TaskId const task : m_new) {
      if (m_look.active()) m_look.tasks().ready(task);
      DmdaScheduler::ready(task);
    }
    m_new.clear();
  }
  [[nodiscard]] Queued reconsider(Task const& task, Queued const& assigned) override {
    if (!m_look.active()) return assigned;
    auto const best = [&](WorkerKind kind) {
      return assign(task, task.allowed_groups & m_of_kind[static_cast<std::size_t>(kind)]);
    };
    auto const core = best(WorkerKind::Cpu);
    auto const device = best(WorkerKind::Device);
    if (!core.group.valid() || !device.group.valid()) return assigned;
    GroupId const chosen = m_look.choose(task.id, {core.group, core.end}, {device.group, device.end}, assigned.group);
    return chosen == core.group ? core : device;
  }

  LookAhead m_look;
  std::vector<TaskId> m_new;  // ready, and in no queue
  std::array<GroupSet, worker_kinds> m_of_kind{};
};

// Without `look`, it is `dmdas:ready=none`.
SchedulerRegistration const heftp_registration("heftp", [](PolicyOptions& options) -> std::unique_ptr<Scheduler> {
  auto const look = options.choice("look", "none", {"none", "let", "gb", "mms"});
  if (look == "none") return std::make_unique<DmdaScheduler>(options, true);
  auto const rule = look == "let" ? LookAhead::Rule::Let : look == "gb" ? LookAhead::Rule::Gb : LookAhead::Rule::Mms;
  return std::make_unique<LookingScheduler>(options, rule);
});

}  // namespace
}  // namespace granary::detail
