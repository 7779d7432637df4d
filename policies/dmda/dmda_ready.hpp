// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/dmda/dmda_base.hpp>
#include <granary/detail/policies/dmda/ready_order.hpp>

namespace granary::detail {

/// DMDA with queues reordered by *Ready* (DARTS, Algorithms 1 and 2): a group takes the first of its queued tasks that
/// needs the fewest bytes brought to its node. Algorithm 2 ignores priorities. Here rank() comes before the bytes, or
/// decides between tasks that need equally many.
class GRANARY_EXPORT DmdaReady : public DmdaBase {
 public:
  explicit DmdaReady(PolicyOptions& options, ReadyOrder::By by = ReadyOrder::By::Rank)
      : DmdaBase(options), m_order(by) {}
  void attach(SystemView const& view, PlanBoard& board) final {
    DmdaBase::attach(view, board);
    m_order.attach(view, board);
  }
  void finished(TaskId task) final {
    DmdaBase::finished(task);
    m_order.touch_all(view().task(task), view().topology().group(view().assignment(task).group).node);
  }
  void replica_expected(DataId data, NodeId node) final { m_order.touch(data, node); }
  void replica_valid(DataId data, NodeId node) final { m_order.touch(data, node); }
  void replica_dropped(DataId data, NodeId node) final { m_order.touch(data, node); }

 private:
  [[nodiscard]] std::int64_t rank(Task const&) const override { return 0; }
  [[nodiscard]] TaskId choose(GroupId group) final { return m_order.first(group); }
  void joined(Task const& task, GroupId group) final { m_order.add(task, group, rank(task)); }
  void leaves(Task const& task, GroupId group) final {
    m_order.remove(task.id, group);
    m_order.touch_all(task, view().topology().group(group).node);  // its data will be brought there
  }

  ReadyOrder m_order;
};

}  // namespace granary::detail
