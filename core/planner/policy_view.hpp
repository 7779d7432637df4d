// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/dispatch/dispatch.hpp>
#include <granary/detail/core/policy/system_view.hpp>

namespace granary::detail {

/// The state of a planner that its policies read.
class PolicyView final : public SystemView {
 public:
  PolicyView(PlannerContext const& context, Movement const& movement, Dispatch const& dispatch)
      : m_context(context), m_movement(movement), m_dispatch(dispatch) {}

  void set_now(Instant now) { m_now = now; }

  [[nodiscard]] Topology const& topology() const override { return m_context.topology; }
  [[nodiscard]] Instant now() const override { return m_now; }
  [[nodiscard]] Task const& task(TaskId task) const override { return m_dispatch.tasks()[task]; }
  [[nodiscard]] Assignment const& assignment(TaskId task) const override { return m_dispatch.tasks()[task].assignment; }
  [[nodiscard]] Codelet const& codelet(CodeletId codelet) const override { return m_context.codelets[codelet.index()]; }
  [[nodiscard]] Bytes bytes(DataId data) const override { return m_movement.data()[data].bytes; }
  [[nodiscard]] DataDescription const& description(DataId data) const override {
    return m_movement.data()[data].description;
  }
  [[nodiscard]] bool temporary(DataId data) const override { return !m_movement.data()[data].home.valid(); }
  [[nodiscard]] std::uint32_t unfinished_uses(DataId data) const override { return m_movement.data()[data].users; }
  [[nodiscard]] bool valid(DataId data, NodeId node) const override;
  [[nodiscard]] bool expected(DataId data, NodeId node) const override;
  [[nodiscard]] bool evictable(DataId data, NodeId node) const override {
    return m_movement.memories().evictable(data, node);
  }
  [[nodiscard]] Duration transfer_time(DataId data, NodeId node) const override;
  [[nodiscard]] Duration kernel_time(TaskId task, GroupId group) const override {
    return m_dispatch.kernel_time(m_dispatch.tasks()[task], group);
  }
  [[nodiscard]] bool measured(TaskId task, GroupId group) const override {
    return m_dispatch.measured(m_dispatch.tasks()[task], group);
  }
  [[nodiscard]] std::span<TaskId const> committed(GroupId group) const override { return m_dispatch.committed(group); }
  [[nodiscard]] std::uint32_t committed_uses(DataId data, NodeId node) const override {
    return m_dispatch.committed_uses(data, node);
  }
  [[nodiscard]] bool may_take_turn(TaskId task) const override {
    return m_dispatch.commuting().can_take(m_dispatch.tasks()[task]);
  }
  [[nodiscard]] bool may_abort(TaskId task) const override { return m_dispatch.may_abort(m_dispatch.tasks()[task]); }
  [[nodiscard]] Duration reload_time(DataId data, NodeId node) const override;

 private:
  PlannerContext const& m_context;
  Movement const& m_movement;
  Dispatch const& m_dispatch;
  Instant m_now{};
};

}  // namespace granary::detail
