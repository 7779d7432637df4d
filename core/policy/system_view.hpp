// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/codelet.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/core/model/task.hpp>

#include <deque>
#include <span>

#pragma GCC visibility push(default)

namespace granary {

/// What a policy may look at. All of it is constant time unless stated.
class SystemView {
 public:
  virtual ~SystemView() = default;

  [[nodiscard]] virtual Topology const& topology() const = 0;
  /// The instant of the event that is being handled, virtual in a simulation.
  [[nodiscard]] virtual Instant now() const = 0;
  /// A live task.
  [[nodiscard]] virtual Task const& task(TaskId task) const = 0;
  [[nodiscard]] virtual Codelet const& codelet(CodeletId codelet) const = 0;
  [[nodiscard]] virtual Bytes bytes(DataId data) const = 0;
  /// How many tasks that were submitted and have not ended access the datum.
  [[nodiscard]] virtual std::uint32_t unfinished_uses(DataId data) const = 0;
  /// Whether workers on `node` can read the datum's present value there now.
  [[nodiscard]] virtual bool valid(DataId data, NodeId node) const = 0;
  /// Whether the datum has a place on `node`: valid, on its way, or about to be written there.
  [[nodiscard]] virtual bool expected(DataId data, NodeId node) const = 0;
  /// Whether the replica on `node` may be chosen for eviction now: it has a place in the node's memory, is not in use,
  /// reserved or moving.
  [[nodiscard]] virtual bool evictable(DataId data, NodeId node) const = 0;
  /// The estimated time to bring the datum to `node` from the nearest valid place; 0 when it is there. O(nodes).
  [[nodiscard]] virtual Duration transfer_time(DataId data, NodeId node) const = 0;
  /// The estimated time of the task on a worker of the group; at least 1 ns.
  [[nodiscard]] virtual Duration kernel_time(TaskId task, GroupId group) const = 0;
  /// The group's committed tasks that have not finished, oldest first: running, being fetched, waiting for room.
  [[nodiscard]] virtual std::deque<TaskId> const& committed(GroupId group) const = 0;
  /// How many committed tasks of the node's groups use the datum.
  [[nodiscard]] virtual std::uint32_t committed_uses(DataId data, NodeId node) const = 0;
};

}  // namespace granary

#pragma GCC visibility pop
