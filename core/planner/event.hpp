// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <exception>
#include <span>
#include <variant>

namespace granary::detail {

/// When a task's kernel ran, for observers; the planner does not look at it.
struct GRANARY_EXPORT TaskTimes {
  Instant begin{};
  Instant end{};
  Duration blocked{0};  ///< before `begin`, as in TraceTask
};

struct GRANARY_EXPORT AddCodelet {
  Codelet codelet;
};
struct GRANARY_EXPORT AddData {
  DataDescription description;
  std::span<FixedPlace const> places = {};   ///< further ones
  std::span<SharedBytes const> shares = {};  ///< each once
};
/// The datum needs one more release; also allowed after its last release, until it is forgotten.
struct GRANARY_EXPORT RetainData {
  DataId data;
};
struct GRANARY_EXPORT ReleaseData {
  DataId data;
};
struct GRANARY_EXPORT CopyDone {
  TransferId transfer;
  Instant ended{};  ///< for observers; not given: now
};
struct GRANARY_EXPORT CopyFailed {
  TransferId transfer;
  std::exception_ptr error;
  Instant ended{};  ///< for observers
};
struct GRANARY_EXPORT TaskDone {
  TaskId task;
  Duration duration{0};  ///< measured; the estimator learns from it
  TaskTimes times{};
};
/// The size of the value that an issued or begun task makes of a varying datum, at most the size of its place
/// (`RunCommand::varying`). Before the task's end; without this the value has all bytes of the place.
struct GRANARY_EXPORT Sized {
  TaskId task;
  DataId data;
  Bytes bytes = 0;
};
struct GRANARY_EXPORT TaskFailed {
  TaskId task;
  std::exception_ptr error;
  TaskTimes times{};
};
/// It followed a task that failed or was skipped, and did not start.
struct GRANARY_EXPORT TaskSkipped {
  TaskId task;
};
/// A worker gives the task back, or its driver takes it, and it is ready again. For a task that is issued it is
/// the reply; one that follows it (RunCommand) is returned first. Unless AbortCommand asked, the worker is absent now.
struct GRANARY_EXPORT TaskReturned {
  TaskId task;
  /// Data that it writes may have changed, except those kept aside (`RunCommand::kept`); needs `Planner::may_restart`.
  bool changed = false;  ///< false: it touched none of its data
  TaskTimes times{};     ///< of the run that was stopped; equal: it had not begun
};
struct GRANARY_EXPORT WorkerBack {
  WorkerId worker;  ///< an absent one (Planner::absent) has nothing to do, and asks for tasks
};
/// Another process asks for the value that a begun external task reads, its only datum: it is brought to the node from
/// which values are sent (Topology::send_node), and ShipCommand follows, or the task fails. Not again before Shipped.
struct GRANARY_EXPORT Asked {
  TaskId task;
};
/// The value was sent: its place is not read any more.
struct GRANARY_EXPORT Shipped {
  TaskId task;
};
/// Write the present values to the homes, of one datum or of all; `Planner::idle` is false until then. What a task
/// writes now, or begins to write before, is left out. With a datum, also those that share bytes with it.
struct GRANARY_EXPORT FlushHomes {
  DataId data = {};  ///< invalid: all
};
/// Cancel every task that was not handed to a worker and has not begun, with this error as the failure.
struct GRANARY_EXPORT CancelAll {
  std::exception_ptr error;
};
/// Returns the failures since the last report, and forgets them. Poisoned data stay poisoned until a task that only
/// writes them has run. No copy starts before the next event: an idle planner stays idle.
///
/// With a datum: only the failures that left it without its value or away from home. Throws InvalidArgument if a task
/// uses it or it is not registered. A failure is forgotten if it concerns no other datum and did not end the run;
/// otherwise the next report without a datum has it again, as it has those of data that share bytes with it.
struct GRANARY_EXPORT TakeFailures {
  DataId data = {};
};
/// The application may change what is in its memory: for data at rest whose value is in a home outside disks, no other
/// replica but the mirrors counts from now on. No copy starts before the next event. With a datum, also those that
/// share bytes with it.
struct GRANARY_EXPORT HomesMayChange {
  DataId data = {};  ///< invalid: all
};
/// The application has changed the value of a datum at rest in its own place on that node, the home or a mirror: there
/// it is valid now, and nowhere else. Throws InvalidArgument if the datum is in use, shares bytes with others, is read
/// only or has no such place there, and MemoryLimitError if the value finds no room on its way from there to its home.
struct GRANARY_EXPORT PlaceChanged {
  DataId data;
  NodeId node;
};
/// From now on a task that does not run because of a failure leaves this datum without a value. (Other data keep the
/// old value of what such a task would have written; tasks may read it again once the failure is reported.)
struct GRANARY_EXPORT KeepNoOldValue {
  DataId data;
};
/// A hint: the value will be needed on that node. It is copied there if one link leads there from a valid replica and
/// memory is free that nobody waits for; nothing is evicted, and a failure of the copy is no failure of the run.
/// Nothing happens to data that share bytes with others.
struct GRANARY_EXPORT Prefetch {
  DataId data;
  NodeId node;
};
/// A hint: no task that is submitted soon will use the datum. If no submitted one does, a value that is not at home is
/// sent there, and its replicas stay until they are evicted; replicas of other values are dropped, but not the last.
struct GRANARY_EXPORT WillNotUse {
  DataId data;
};

/// All inputs of a planner. A submission borrows its accesses, AddData its lists.
using Event = std::variant<AddCodelet, AddData, RetainData, ReleaseData, TaskSubmission, CopyDone, CopyFailed, Sized,
                           TaskDone, TaskFailed, TaskSkipped, TaskReturned, WorkerBack, Asked, Shipped, FlushHomes,
                           CancelAll, TakeFailures, HomesMayChange, PlaceChanged, KeepNoOldValue, Prefetch, WillNotUse>;

/// The ids that an event made; invalid where it made none.
struct GRANARY_EXPORT NewIds {
  CodeletId codelet = {};
  DataId data = {};
  TaskId task = {};
};

}  // namespace granary::detail
