// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/auto_scheduler.hpp>
#include <granary/detail/auto/register_auto.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>

namespace granary::detail {

AutoScheduler::AutoScheduler(Options const& options) : m_candidates(options), m_choice(options.seed, options.tasks) {}

std::unique_ptr<EvictionPolicy> AutoScheduler::own_eviction(std::string_view eviction) {
  if (eviction != name) {
    m_candidates.evict_with(std::string(eviction));
    return nullptr;
  }
  auto own = std::make_unique<AutoEviction>();
  m_own_eviction = own->self();
  own->use(make_eviction(m_candidates.with_eviction(m_candidates.first()).eviction));
  return own;
}

void AutoScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  m_choice.attach(view);
  use(m_candidates.first());
}

// The scheduler from now on; it is told all that it would have been told if the waiting tasks were new.
void AutoScheduler::use(std::string const& scheduler) {
  bool const in_mid_run = m_present != nullptr;
  m_tasks.change_scheduler();
  auto const tasks = m_tasks.all();
  for (TaskId const task : tasks) {
    if (m_tasks.waits(task)) m_board->remove(task);
  }
  auto const candidate = m_candidates.with_eviction(scheduler);
  auto policies = make_policies(candidate.scheduler, candidate.eviction, m_candidates.seed());
  m_present = std::move(policies.scheduler);
  auto* const events = dynamic_cast<SystemEvents*>(m_present.get());
  m_events = events != nullptr ? events : &m_no_events;
  auto* const limits = dynamic_cast<SchedulerLimits*>(m_present.get());
  m_limits = limits != nullptr ? limits : &m_no_limits;
  m_name = scheduler;
  if (in_mid_run && m_own_eviction && *m_own_eviction != nullptr) (*m_own_eviction)->use(std::move(policies.eviction));
  m_present->attach(*m_view, *m_board);
  // One that counts tasks was tried with those that groups have.
  bool const told_of_all = scheduler_entry(scheduler).counts_tasks;
  for (TaskId const task : tasks) {
    if (!m_tasks.waits(task) && !told_of_all) continue;
    m_present->submitted(task);
    if (!m_tasks.waits(task)) m_present->withdrawn(task, Withdrawal::NeverReady, {});
  }
  for (auto const& [data, node] : m_replicas.sorted()) {
    m_events->replica_expected(data, node);
    if (m_view->valid(data, node)) m_events->replica_valid(data, node);
  }
  for (TaskId const task : tasks) {
    if (m_tasks.waits(task) && m_tasks.is_ready(task)) m_present->ready(task);
  }
  m_events->caught_up();
  if (in_mid_run) m_board->ask_all_groups();
}

void AutoScheduler::check(TaskSubmission const& submission, AccessList const& accesses) const {
  try {
    m_limits->check(submission, accesses);
  } catch (InvalidArgument const&) {
    m_refuses = true;
  }
}

void AutoScheduler::submitted(TaskId task) {
  if (std::exchange(m_refuses, false)) use(m_candidates.first());
  m_tasks.submitted(task);
  m_choice.submitted();
  m_present->submitted(task);
}

void AutoScheduler::ready(TaskId task) {
  m_tasks.ready(task);
  m_present->ready(task);
}

TaskId AutoScheduler::next(GroupId group) {
  if (m_tasks.waiting() > 0 && !std::exchange(m_begun, true) && m_choice.measured(m_tasks.all()))
    use(Candidates::first_measured(m_choice.one_memory()));
  if (TaskId const task = m_tasks.take_kept(group, *m_view); task.valid()) return task;
  for (;;) {
    TaskId const task = m_present->next(group);
    if (!task.valid()) return task;
    if (!m_view->task(task).accesses.commutes() || m_view->may_take_turn(task)) return m_tasks.give(task);
    m_tasks.keep(task, group);
  }
}

bool AutoScheduler::hand_over(TaskId task, GroupId group) {
  if (!m_present->hand_over(task, group)) return false;
  m_tasks.give(task);
  return true;
}

void AutoScheduler::withdrawn(TaskId task, Withdrawal why, GroupId group) {
  bool const given = why != Withdrawal::InputEvicted && m_tasks.withdrawn(task);
  if (!given) m_present->withdrawn(task, why, group);
}

void AutoScheduler::issued(TaskId task) {
  if (m_tasks.given_by_present(task)) m_present->issued(task);
}

void AutoScheduler::finished(TaskId task) {
  m_choice.finished(task);
  auto const scheduler = m_choice.choose(m_tasks, m_candidates, m_name, m_replicas, m_depth);
  if (scheduler != m_name) use(scheduler);
  m_tasks.ended(task) ? m_present->finished(task) : m_events->external_finished(task);
}

void AutoScheduler::replica_expected(DataId data, NodeId node) {
  m_replicas.add(data, node);
  m_events->replica_expected(data, node);
}

void AutoScheduler::replica_valid(DataId data, NodeId node) {
  m_replicas.add(data, node);
  m_events->replica_valid(data, node);
}

void AutoScheduler::replica_dropped(DataId data, NodeId node) {
  m_replicas.remove(data, node);
  m_events->replica_dropped(data, node);
}

std::uint32_t AutoScheduler::most_ahead(GroupId group, std::uint32_t depth) const {
  m_depth = depth;
  return m_limits->most_ahead(group, depth);
}

std::vector<std::pair<std::string, double>> AutoScheduler::counters() const {
  auto counters = m_present->counters();
  counters.insert(counters.begin(), {{"choices", static_cast<double>(m_choice.choices())},
                                     {"simulated tasks", static_cast<double>(m_choice.simulated())}});
  return counters;
}

}  // namespace granary::detail

namespace granary {

void register_auto() {
  using detail::AutoScheduler;
  static bool const registered = [] {
    register_scheduler(AutoScheduler::name,
                       [](PolicyOptions& options) {
                         AutoScheduler::Options chosen;
                         chosen.candidates = options.list("candidates");
                         chosen.tasks = static_cast<std::uint64_t>(options.integer("tasks", 10'000, 0, 1'000'000'000));
                         if (auto const file = options.text("schedule", ""); !file.empty())
                           chosen.schedule = "static:file=" + file;
                         for (auto const& name : chosen.candidates) {
                           if (name == AutoScheduler::name)
                             throw InvalidArgument("the scheduler 'auto' cannot be a candidate of itself");
                           static_cast<void>(make_scheduler(name));
                         }
                         if (!chosen.schedule.empty()) static_cast<void>(make_scheduler(chosen.schedule));
                         chosen.seed = options.seed();
                         return std::make_unique<AutoScheduler>(chosen);
                       },
                       {.eviction = AutoScheduler::name});
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace granary
