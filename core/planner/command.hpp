// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace granary::detail {

/// Selects one of a datum's replicas on a node.
enum class GRANARY_EXPORT Slot : std::uint8_t {
  Pool,    ///< in the node's memory, at an offset that the planner chose
  Origin,  ///< source of the initial value; read only
  Home,    ///< destination of the final value
  Mirror,  ///< a further place of the user's, which the node's workers use
};

/// A place for a datum's bytes.
struct GRANARY_EXPORT Place {
  NodeId node;
  Slot slot = Slot::Pool;
  Bytes offset = 0;  ///< Pool only
  auto operator<=>(Place const&) const = default;
};

/// A task leaves its value of a varying datum here.
struct GRANARY_EXPORT ResultPlace {
  Place place;
  Bytes room = 0;  ///< the value has at most that many bytes
  bool operator==(ResultPlace const&) const = default;
};

/// The sizes of one access of a task that accesses varying data.
struct GRANARY_EXPORT VaryingPlaces {
  Bytes bytes = 0;                         ///< of the present value
  std::optional<ResultPlace> result = {};  ///< if the task writes the datum, which varies
};

/// A value that a task overwrites: the driver copies it to `place` before the task starts, and back before it returns
/// the task as changed.
struct GRANARY_EXPORT KeptValue {
  std::size_t access = 0;  ///< of the task's list
  Place place;             ///< in the worker's memory
  Bytes bytes = 0;
};

/// Copy the datum's bytes along the link; reply with CopyDone or CopyFailed. Any number of copies may be active;
/// replies may come in any order.
struct GRANARY_EXPORT CopyCommand {
  TransferId transfer;
  DataId data;
  Place from;
  Place to;
  LinkId link;
  Bytes bytes;
  std::uint32_t version = 0;  ///< of the value, as in Access
  bool write_back = false;    ///< toward the home or storage; no task waits for it
  bool operator==(CopyCommand const&) const = default;
};

/// Run the task on the worker after its earlier tasks; reply with TaskDone, TaskFailed, TaskSkipped or TaskReturned. A
/// worker's tasks end or are skipped in the order in which it got them; one that has not begun may return earlier.
/// Until the reply the task's data stay in place, and what the command points to is valid; later only the ids are.
struct GRANARY_EXPORT RunCommand {
  TaskId task;
  WorkerId worker;
  /// It reads what the worker's previous task writes: if that task fails or is skipped before this one starts, this one
  /// is skipped.
  bool follows = false;
  Task const* description = nullptr;            ///< as it was submitted
  std::span<Place const> places = {};           ///< of the values for the worker, by access
  std::span<VaryingPlaces const> varying = {};  ///< by access; empty if the task accesses no varying data
  std::span<KeptValue const> kept = {};
  /// Of the ids: commands outlive the memory to which they point.
  bool operator==(RunCommand const& other) const {
    return task == other.task && worker == other.worker && follows == other.follows;
  }
};

/// Stop the task, which a CPU worker has. The only reply is the reply to its RunCommand: TaskReturned if it was
/// stopped, after the values that `RunCommand::kept` names were put back; else as if this command had not been given.
/// Its reply may be under way already. A worker is told to stop one of its tasks at a time.
struct GRANARY_EXPORT AbortCommand {
  TaskId task;
  WorkerId worker;
  bool operator==(AbortCommand const&) const = default;
};

/// The tasks before this one have ended, and no worker runs it (Codelet::external): what it stands for begins; reply
/// with TaskDone, TaskFailed or TaskReturned. It holds no places: what it writes, it writes to the homes, and what it
/// reads keeps its value until it has ended.
struct GRANARY_EXPORT BeginCommand {
  TaskId task;
  Bytes bytes = 0;  ///< of the value of its first datum, if it does not write that
  bool operator==(BeginCommand const&) const = default;
};

/// The value of a begun external task that its reader asked for (Asked): send it from that place; reply with Shipped.
struct GRANARY_EXPORT ShipCommand {
  TaskId task;
  DataId data;
  Place from;
  Bytes bytes;
  std::uint32_t version = 0;  ///< of the value, as in Access
  bool operator==(ShipCommand const&) const = default;
};

/// The task has left the planner: it ran, failed or was cancelled. Its parameters may be destroyed.
struct GRANARY_EXPORT RetireCommand {
  TaskId task;
  bool operator==(RetireCommand const&) const = default;
};

/// The datum has left the planner: its id is free. Its home, if any, holds its final value, unless there was a failure.
struct GRANARY_EXPORT ForgetCommand {
  DataId data;
  bool operator==(ForgetCommand const&) const = default;
};

using Command =
    std::variant<CopyCommand, RunCommand, AbortCommand, BeginCommand, ShipCommand, RetireCommand, ForgetCommand>;

}  // namespace granary::detail
