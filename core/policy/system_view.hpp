// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/model/task.hpp>

#include <span>

namespace granary {

/// The state that a policy may read. Constant time unless stated otherwise. docs/policy-functions.md lists the
/// functions with their costs.
///
/// ```cpp
/// // In a scheduler: the expected time of a task in a group, with the transfers of what it reads.
/// auto const cost = [](granary::SystemView const& system, granary::TaskId task, granary::GroupId group) {
///   granary::Duration time = system.kernel_time(task, group);
///   auto const node = system.topology().group(group).node;
///   for (auto const& access : system.task(task).accesses) {
///     if (reads(access.mode)) time += system.transfer_time(access.data, node);
///   }
///   return time;
/// };
/// // In an eviction policy: what it costs to bring a replica back, per byte that its eviction frees.
/// auto const price = [](granary::SystemView const& system, granary::DataId data, granary::NodeId node) {
///   return granary::seconds(system.reload_time(data, node)) / static_cast<double>(system.bytes(data));
/// };
/// ```
class GRANARY_EXPORT SystemView {
 public:
  virtual ~SystemView() = default;

  [[nodiscard]] virtual detail::Topology const& topology() const = 0;
  /// The instant of the event that is being handled, virtual in a simulation.
  [[nodiscard]] virtual detail::Instant now() const = 0;
  /// A live task.
  [[nodiscard]] virtual Task const& task(TaskId task) const = 0;
  /// How far a live task has come, and where.
  [[nodiscard]] virtual detail::Assignment const& assignment(TaskId task) const = 0;
  [[nodiscard]] virtual detail::Codelet const& codelet(detail::CodeletId codelet) const = 0;
  [[nodiscard]] virtual Bytes bytes(DataId data) const = 0;
  [[nodiscard]] virtual detail::DataDescription const& description(DataId data) const = 0;
  /// True if nobody needs the datum's value after its last use: it has no home.
  [[nodiscard]] virtual bool temporary(DataId data) const = 0;
  /// The number of submitted, unfinished tasks that access the datum.
  [[nodiscard]] virtual std::uint32_t unfinished_uses(DataId data) const = 0;
  /// True if workers on `node` can read the datum's current value there now. O(its replicas).
  [[nodiscard]] virtual bool valid(DataId data, NodeId node) const = 0;
  /// True if the datum is allocated on `node`: valid, in transfer, or about to be written there. O(its replicas).
  [[nodiscard]] virtual bool expected(DataId data, NodeId node) const = 0;
  /// True if the replica on `node` may be evicted now: it is in the node's memory, and not in use, reserved or moving.
  /// O(its replicas).
  [[nodiscard]] virtual bool evictable(DataId data, NodeId node) const = 0;
  /// The estimated time to bring the datum to `node` from the nearest valid replica; 0 when it is there, or when there
  /// is no valid replica. O(its replicas).
  [[nodiscard]] virtual Duration transfer_time(DataId data, NodeId node) const = 0;
  /// The estimated time of the task on a worker of the group; at least 1 ns.
  [[nodiscard]] virtual Duration kernel_time(TaskId task, GroupId group) const = 0;
  /// True if the estimator knows a measured time of the codelet on workers of the group's kind, for tasks of any size;
  /// it may come from an earlier run, or from the kernel alone. `kernel_time` may still be a guess for this size.
  [[nodiscard]] virtual bool measured(TaskId task, GroupId group) const = 0;
  /// The group's committed tasks that have not finished, oldest first: running, being fetched, waiting for room. Valid
  /// until the policy returns.
  [[nodiscard]] virtual std::span<TaskId const> committed(GroupId group) const = 0;
  /// The number of committed tasks of the node's groups that use the datum.
  [[nodiscard]] virtual std::uint32_t committed_uses(DataId data, NodeId node) const = 0;
  /// True if no other task has its turn on the data on which this one commutes. O(its data).
  [[nodiscard]] virtual bool may_take_turn(TaskId task) const = 0;
  /// True if `TaskAborter::abort_for` may name the task: a CPU worker has it, which is not being told to stop another
  /// one, its codelet is restartable, and all values that it overwrites and needs are kept. O(its data).
  [[nodiscard]] virtual bool may_abort(TaskId task) const = 0;
  /// The estimated time of the transfers that follow if the replica is evicted from the memory of `node` and the datum
  /// is used there again: from the nearest other valid replica; if there is none, to where an evicted value is written
  /// and back. 0 if the value can be written nowhere, so that it is not evictable. Like `transfer_time`, without
  /// waiting for other transfers. O(its replicas).
  [[nodiscard]] virtual Duration reload_time(DataId data, NodeId node) const = 0;
};

}  // namespace granary
