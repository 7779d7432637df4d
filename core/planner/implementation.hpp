// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/admission.hpp>
#include <granary/detail/core/planner/dispatch/failures.hpp>
#include <granary/detail/core/planner/dispatch/followers.hpp>
#include <granary/detail/core/planner/dispatch/policy_news.hpp>
#include <granary/detail/core/planner/options.hpp>
#include <granary/detail/core/planner/policy_view.hpp>
#include <granary/detail/core/policy/policy_set.hpp>

#include <cstdint>
#include <exception>
#include <utility>

namespace granary::detail {

inline PlannerOptions const& checked(PlannerOptions const& options) {
  if (options.issue_depth == 0 || options.device_issue == 0) {
    throw InvalidArgument("the depth of issued tasks must be at least 1");
  }
  return options;
}

inline PolicySet checked(PolicySet policies) {
  if (!policies.scheduler || !policies.eviction) throw InvalidArgument("a scheduler and an eviction policy are needed");
  return policies;
}

inline Topology checked(Topology topology) {
  if (topology.groups().empty()) throw InvalidArgument("the machine has no workers");
  return topology;
}

// The parts of the planner, each made of those before it, and the work that the agenda hands to them.
struct PlannerImplementation {
  PlannerImplementation(Topology topology, PolicySet set, Estimator& times, PlannerOptions const& options,
                        BookingOptions const& booking_options)
      : context{.topology = detail::checked(std::move(topology)), .options = detail::checked(options)},
        policies(detail::checked(std::move(set))),
        estimator(times),
        board(context.topology.groups().size()),
        scheduler(context, *policies.scheduler, board, tasks),
        eviction(context, *policies.eviction),
        news(context, scheduler, eviction, board, tasks),
        movement(context, eviction, news),
        bounds(context, movement),
        booking(context, booking_options, movement),
        dispatch(context, scheduler, times, tasks, movement, bounds, booking),
        prefetches(context, board, dispatch, movement),
        followers(context, scheduler, dispatch, movement),
        handovers(context, dispatch, movement),
        outgoing_values(context, tasks, movement),
        failures(context, scheduler, dispatch, handovers, outgoing_values, movement),
        admission(context, movement),
        view(context, movement, dispatch) {
    news.tell(booking);
    news.tell(prefetches);
    scheduler.look_into(movement.data());
    scheduler.attach(view, board);
    eviction.attach(view, board);
  }

  template <class Item>
  void perform(Item item) {
    movement.perform(item);
  }
  void perform(Agenda::Cancel item) {
    if (!item.task.valid()) return end_run();
    auto* const task = tasks.find(item.task);
    if (task == nullptr) return;
    if (auto error = bounds.take_error(item.task)) return failures.task_failed(*task, std::move(error));
    failures.cancel(*task);
  }
  void perform(Agenda::GiveRoom item) {
    movement.give_room(item.node);
    outgoing_values.give_room(item.node);
    dispatch.give_room(item.node);
  }
  void perform(Agenda::BeginExternal) {
    dispatch.begin_external();
    handovers.perform();
  }
  void perform(Agenda::Commit item) {
    do {
      dispatch.commit_tasks(item.group);
    } while (dispatch.issue_complete(item.group) || followers.issue(item.group));
    // After the end of a run, what a stopped task makes way for would not run.
    if (dispatch.aborts() && !failures.run_ended()) dispatch.abort_tasks(item.group);
  }

  // A policy is at fault. What it has planned does not count any more.
  void end_run() {
    for (std::uint32_t g = 0; g < context.topology.groups().size(); ++g) {
      for (auto const& plan = board.plan(GroupId(g)); !plan.empty();) board.remove(plan.begin()->second);
    }
    failures.cancel_all(context.policy_fault);
  }
  // Nothing is submitted any more then.
  void refuse_after_fault() const {
    if (context.policy_fault) std::rethrow_exception(context.policy_fault);
  }

  // True if all transfers in flight come from other processes.
  [[nodiscard]] bool only_receives() const {
    auto const& topology = context.topology;
    auto const& links = movement.links();
    if (!topology.peers().valid()) return false;
    return links.active() == links.active(topology.next_hop(topology.peers(), topology.send_node()));
  }

  bool interrupted = false;
  detail::PlannerContext context;
  PolicySet policies;
  Estimator& estimator;
  PlanBoard board;
  detail::LiveTasks tasks;
  detail::SchedulerCalls scheduler;
  detail::EvictionCalls eviction;
  detail::PolicyNews news;
  detail::Movement movement;
  detail::ResultBounds bounds;
  detail::Booking booking;
  detail::Dispatch dispatch;
  detail::Prefetches prefetches;
  detail::Followers followers;
  detail::Handovers handovers;
  detail::OutgoingValues outgoing_values;
  detail::Failures failures;
  detail::Admission admission;
  detail::PolicyView view;
};

}  // namespace granary::detail
