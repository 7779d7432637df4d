// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/implementation.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/core/planner/planner.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace granary::detail {

Planner::Planner(Topology topology, PolicySet policies, Estimator& estimator, PlannerOptions options,
                 BookingOptions booking)
    : m_implementation(std::make_unique<PlannerImplementation>(std::move(topology), std::move(policies), estimator,
                                                               options, booking)) {}

Planner::~Planner() = default;

void Planner::attach(PlannerObserver& observer) {
  observer.m_planner = this;
  m_implementation->context.observers.push_back(&observer);
}

void Planner::look_up_parameters(std::function<void const*(TaskId)> look_up) {
  m_implementation->bounds.look_up_parameters(std::move(look_up));
}

void Planner::set_now(Instant now) { m_implementation->view.set_now(now); }

template <class Kind>
void Planner::tell(Kind const& event, NewIds ids) {
  auto const& observers = m_implementation->context.observers;
  if (observers.empty()) return;
  Event const told(event);
  for (auto* const observer : observers) observer->handled(told, ids);
}

CodeletId Planner::handle(AddCodelet const& event) {
  auto& codelets = m_implementation->context.codelets;
  bool const runs = std::ranges::any_of(event.codelet.kernels, [](Kernel kernel) { return kernel != nullptr; });
  if (event.codelet.external && (runs || event.codelet.restartable)) {
    throw InvalidArgument("codelet '" + event.codelet.name + "' is external and " +
                          (runs ? "has kernels" : "restartable") + ": no worker runs it");
  }
  CodeletId const id(static_cast<std::uint32_t>(codelets.size()));
  codelets.push_back(event.codelet);
  m_implementation->estimator.codelet_added(id, codelets.back());
  tell(event, {.codelet = id});
  return id;
}

DataId Planner::handle(AddData const& event) {
  DataId const id = m_implementation->movement.add(event.description, event.places, event.shares);
  if (!event.shares.empty()) {
    m_implementation->handovers.registered(id);
    advance();
  }
  tell(event, {.data = id});
  return id;
}

void Planner::handle(RetainData event) {
  m_implementation->movement.retain(event.data);
  tell(event);
}

void Planner::handle(ReleaseData event) {
  m_implementation->movement.release(event.data);
  if (!held(event.data)) m_implementation->scheduler.released(event.data);
  advance();
  tell(event);
}

void Planner::check(TaskSubmission const& submission) const {
  m_implementation->refuse_after_fault();
  static_cast<void>(m_implementation->admission.check(submission, AccessList(submission.accesses)));
}

TaskId Planner::handle(TaskSubmission const& event) {
  auto& parts = *m_implementation;
  parts.refuse_after_fault();
  AccessList accesses(event.accesses);
  GroupSet const groups = parts.admission.check(event, accesses);
  if (!groups.empty()) parts.scheduler.check(event, accesses);
  GroupId const behind = parts.followers.group_to_follow(accesses);
  parts.interrupted = true;  // until `advance` has come to its end
  parts.handovers.precede(accesses);
  parts.movement.announce(accesses);
  auto& task = parts.tasks.add(std::move(accesses));
  task.codelet = event.codelet;
  task.priority = event.priority;
  task.flops = event.flops;
  task.allowed_groups = groups;
  task.position = parts.admission.take_position(event);
  task.source_line = event.source_line;
  task.varies = parts.bounds.concern(task);
  parts.booking.submitted(task);
  TaskId const id = task.id;
  ++parts.context.statistics.tasks_submitted;
  auto& most = parts.context.statistics.most_live_tasks;
  most = std::max<std::uint64_t>(most, parts.tasks.size());
  if (!task.external()) parts.scheduler.submitted(id);
  parts.handovers.submitted(task);
  if (task.predecessors == 0) {
    parts.dispatch.make_ready(task);
  } else if (behind.valid() && task.allowed_on(behind)) {
    parts.context.agenda.post(Agenda::Commit{behind});
  }
  advance();
  tell(event, {.task = id});
  return id;
}

void Planner::handle(CopyDone event) {
  DataId const data = m_implementation->movement.copy_done(event.transfer);
  m_implementation->outgoing_values.look_for_arrived(data);
  m_implementation->dispatch.look_for_complete(data);
  advance();
  tell(event);
}

void Planner::handle(CopyFailed const& event) {
  m_implementation->failures.copy_failed(event.transfer, event.error);
  advance();
  tell(event);
}

void Planner::handle(Sized event) {
  auto const& datum = m_implementation->movement.data()[event.data];
  if (event.bytes > datum.result) {
    throw InternalError("task " + std::to_string(event.task.value()) + " has made " + std::to_string(event.bytes) +
                        " bytes of '" + datum.description.name + "' in a place of " + std::to_string(datum.result));
  }
  m_implementation->movement.results().expect(event.data, event.bytes);
  tell(event);
}

void Planner::handle(TaskDone const& event) {
  auto& parts = *m_implementation;
  auto& task = parts.tasks[event.task];
  if (task.cancelled) {
    parts.failures.task_ran_in_vain(task);
  } else {
    if (!task.external()) {
      auto const kind = parts.context.topology.group(task.assignment.group).kind;
      parts.estimator.observe_kernel(task.codelet, task.flops, kind, event.duration);
    }
    for_each_write(task.accesses, [&](Access const& access) {
      parts.movement.changes().end(access, parts.dispatch.node_of(task, access.data));
    });
    ++parts.context.statistics.tasks_run;
    if (task.external()) ++parts.context.statistics.tasks_outside;
    parts.handovers.ended(event.task);
    parts.dispatch.end(task);
  }
  advance();
  tell(event);
}

void Planner::handle(TaskFailed const& event) {
  auto& task = m_implementation->tasks[event.task];
  if (task.cancelled) {
    m_implementation->failures.task_ran_in_vain(task);
  } else {
    m_implementation->failures.task_failed(task, event.error);
  }
  advance();
  tell(event);
}

void Planner::handle(TaskSkipped event) {
  m_implementation->failures.task_skipped(m_implementation->tasks[event.task]);
  advance();
  tell(event);
}

void Planner::handle(TaskReturned event) {
  m_implementation->dispatch.take_back(m_implementation->tasks[event.task], event.changed);
  advance();
  tell(event);
}

void Planner::handle(WorkerBack event) {
  m_implementation->dispatch.worker_is_back(event.worker);
  tell(event);
}

void Planner::handle(Asked event) {
  m_implementation->outgoing_values.ask(event.task);
  advance();
  tell(event);
}

void Planner::handle(Shipped event) {
  m_implementation->outgoing_values.shipped(event.task);
  advance();
  tell(event);
}

void Planner::handle(FlushHomes event) {
  m_implementation->movement.flush(event.data);
  advance();
  tell(event);
}

void Planner::handle(CancelAll const& event) {
  m_implementation->failures.cancel_all(event.error);
  advance();
  tell(event);
}

std::vector<Failure> Planner::handle(TakeFailures event) {
  auto& failing = m_implementation->failures;
  if (event.data.valid() && m_implementation->movement.check_known(event.data).users > 0) {
    throw InvalidArgument("failures of data '" + view().description(event.data).name +
                          "' are taken while tasks use it");
  }
  auto failures = event.data.valid() ? failing.take(event.data) : failing.take();
  m_implementation->booking.failures_reported();
  tell(event);
  return failures;
}

void Planner::handle(HomesMayChange event) {
  m_implementation->movement.homes_may_change(event.data);
  tell(event);
}

void Planner::handle(PlaceChanged event) {
  m_implementation->movement.place_changed(event.data, event.node);
  m_implementation->booking.changed(event.data);
  tell(event);
}

void Planner::handle(KeepNoOldValue event) {
  m_implementation->movement.keep_no_old_value(event.data);
  tell(event);
}

void Planner::handle(Prefetch event) {
  m_implementation->movement.prefetch(event.data, event.node);
  advance();
  tell(event);
}

void Planner::handle(WillNotUse event) {
  m_implementation->movement.will_not_use(event.data);
  advance();
  tell(event);
}

NewIds Planner::handle(Event const& event) {
  return std::visit(
      [this](auto const& kind) -> NewIds {
        using Answer = decltype(handle(kind));
        if constexpr (std::is_same_v<Answer, CodeletId>) {
          return {.codelet = handle(kind)};
        } else if constexpr (std::is_same_v<Answer, DataId>) {
          return {.data = handle(kind)};
        } else if constexpr (std::is_same_v<Answer, TaskId>) {
          return {.task = handle(kind)};
        } else {
          handle(kind);
          return {};
        }
      },
      event);
}

void Planner::advance() {
  auto& parts = *m_implementation;
  parts.interrupted = true;
  do {
    while (parts.context.agenda.take([&](auto item) { parts.perform(item); })) continue;
  } while (parts.prefetches.start() || parts.movement.write_back_early() || resolve_stall());
  parts.interrupted = false;
}

// Nothing is under way, and work is left.
bool Planner::resolve_stall() {
  auto& parts = *m_implementation;
  if (!parts.outgoing_values.stand_still() && parts.dispatch.give_way(false)) return true;
  if (parts.movement.memories().working() > 0) return false;
  if (parts.movement.links().active() > 0) return parts.only_receives() && resolve_stall_of_outgoing_values();
  if (parts.tasks.size() == 0 && parts.movement.homes().going() == 0) return false;
  bool const shared = !parts.dispatch.exclusive().valid();
  if (shared && (parts.dispatch.make_oldest_exclusive() || parts.dispatch.offer_to_all_groups())) return true;
  if (!parts.dispatch.waits_for_outside()) return parts.failures.fail_one() || parts.scheduler.withholds();
  // Tasks that have begun outside may free memory; but their end may depend on data that find no room because a value
  // failed to get home.
  return resolve_stall_of_outgoing_values() ||
         (parts.failures.run_ended() && parts.dispatch.exclusive().valid() && parts.failures.fail_one());
}

// Values from other processes may depend on values that those processes wait for.
bool Planner::resolve_stall_of_outgoing_values() {
  auto& parts = *m_implementation;
  if (!parts.outgoing_values.stand_still()) return false;
  return parts.dispatch.give_way(true) || parts.outgoing_values.yield() ||
         (parts.failures.run_ended() && parts.failures.fail_outgoing_value());
}

std::vector<Command> const& Planner::commands() const { return m_implementation->context.commands; }

void Planner::take_commands(std::vector<Command>& taken) {
  taken.clear();
  m_implementation->context.commands.swap(taken);
  for (auto* const observer : m_implementation->context.observers) {
    for (auto const& command : taken) observer->performed(command);
  }
}

bool Planner::may_restart(TaskId task) const {
  return m_implementation->dispatch.may_restart(m_implementation->tasks[task]);
}
bool Planner::absent(WorkerId worker) const { return m_implementation->dispatch.workers().absent(worker); }
bool Planner::idle() const { return m_implementation->tasks.size() == 0 && m_implementation->movement.idle(); }
std::size_t Planner::live_tasks() const { return m_implementation->tasks.size(); }
bool Planner::submitter_sleeps() const { return m_implementation->booking.asleep(); }
std::uint32_t Planner::ahead(GroupId group) const { return m_implementation->dispatch.ahead(group); }
bool Planner::failed() const { return !m_implementation->failures.empty(); }
bool Planner::live(TaskId task) const { return m_implementation->tasks.find(task) != nullptr; }
Failure const* Planner::failure_of(TaskId task) const { return m_implementation->failures.of_task(task); }
std::vector<DataId> Planner::with_bytes_of(std::span<DataId const> data) const {
  std::vector<DataId> all;
  for (DataId const datum : data) {
    if (!m_implementation->movement.data().known(datum)) continue;
    m_implementation->movement.for_each_with_bytes_of(datum, [&](DataId id) { all.push_back(id); });
  }
  return all;
}
DataUse Planner::use_of(DataId data) const {
  DataUse use;
  if (!m_implementation->movement.data().known(data)) return use;
  m_implementation->movement.for_each_with_bytes_of(data, [&](DataId id) {
    auto const& datum = m_implementation->movement.data()[id];
    use.tasks += datum.users;
    use.moves = use.moves || datum.transfers > 0 || datum.way_home.going();
  });
  return use;
}
bool Planner::defined(DataId data) const {
  auto const& overlaps = m_implementation->movement.overlaps();
  return m_implementation->movement.data()[data].defined() || overlaps.is_defined_by_another(data) ||
         overlaps.waits_for_report(data);
}
bool Planner::held(DataId data) const {
  return m_implementation->movement.data().known(data) && !m_implementation->movement.data()[data].released();
}
Statistics const& Planner::statistics() const { return m_implementation->context.statistics; }
SystemView const& Planner::view() const { return m_implementation->view; }
PlannerInspection Planner::inspect() const { return PlannerInspection(*m_implementation); }
Scheduler const& Planner::scheduler() const { return *m_implementation->policies.scheduler; }
Topology const& Planner::topology() const { return m_implementation->context.topology; }
std::exception_ptr const& Planner::policy_fault() const { return m_implementation->context.policy_fault; }
bool Planner::interrupted() const { return m_implementation->interrupted; }

}  // namespace granary::detail
