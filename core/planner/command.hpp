// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>

#include <cstdint>
#include <variant>

#pragma GCC visibility push(default)

namespace granary {

/// Which of a datum's places on a node is meant.
enum class Slot : std::uint8_t {
  Pool,    ///< in the node's memory, at an offset that the planner chose
  Origin,  ///< where its first value comes from; read only
  Home,    ///< where its last value goes
};

/// A place for a datum's bytes.
struct Place {
  NodeId node;
  Slot slot = Slot::Pool;
  Bytes offset = 0;  ///< Pool only
  auto operator<=>(Place const&) const = default;
};

/// The planner took a place in a node's memory for the datum; nothing needs to be done before it is used.
struct AllocateCommand {
  DataId data;
  NodeId node;
  Bytes offset;
  Bytes bytes;  ///< rounded up to the node's alignment
  bool operator==(AllocateCommand const&) const = default;
};

/// The place is free again; no command in flight uses it.
struct FreeCommand {
  DataId data;
  NodeId node;
  Bytes offset;
  bool operator==(FreeCommand const&) const = default;
};

/// Copy the datum's bytes along the link; answer with CopyDone or CopyFailed. Any number may be in flight, in any
/// order.
struct CopyCommand {
  TransferId transfer;
  DataId data;
  Place from;
  Place to;
  LinkId link;
  Bytes bytes;
  bool write_back = false;  ///< toward the home or storage, for nobody's use
  bool operator==(CopyCommand const&) const = default;
};

/// Run the task on the worker, behind what the worker was given before; answer with TaskDone, TaskFailed or
/// TaskSkipped, in the order in which the worker was given its tasks. Its data are valid at `Planner::place(data, node
/// of the worker)` from this command to the answer.
struct RunCommand {
  TaskId task;
  WorkerId worker;
  /// It reads what the task that the worker was given just before will have written: where that one fails or is skipped
  /// and this one has not started, it is skipped.
  bool follows = false;
  bool operator==(RunCommand const&) const = default;
};

/// The task has left the planner: it ran, failed or was cancelled. Its parameters may go.
struct RetireCommand {
  TaskId task;
  bool operator==(RetireCommand const&) const = default;
};

/// The datum has left the planner: its id names nothing any more and its home holds its last value.
struct ForgetCommand {
  DataId data;
  bool operator==(ForgetCommand const&) const = default;
};

using Command = std::variant<AllocateCommand, FreeCommand, CopyCommand, RunCommand, RetireCommand, ForgetCommand>;

}  // namespace granary

#pragma GCC visibility pop
