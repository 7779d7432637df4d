// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/auto/replicas.hpp>
#include <granary/detail/core/policy/eviction_policy.hpp>

#include <memory>

namespace granary::detail {

/// The eviction policy of the present scheduler of an AutoScheduler.
class AutoEviction final : public EvictionPolicy {
 public:
  AutoEviction() = default;
  ~AutoEviction() override { *m_self = nullptr; }
  AutoEviction(AutoEviction const&) = delete;
  AutoEviction& operator=(AutoEviction const&) = delete;

  /// Its address; null once it is gone, as when a user replaces it in a PolicySet.
  [[nodiscard]] std::shared_ptr<AutoEviction*> self() const { return m_self; }
  /// The policy that evicts from now on. It is told of the present replicas.
  void use(std::unique_ptr<EvictionPolicy> policy);

  void attach(SystemView const& view, PlanBoard const& board) override;
  DataId victim(NodeId node) override { return m_policy->victim(node); }
  void replica_added(DataId data, NodeId node) override;
  void replica_used(DataId data, NodeId node) override { m_policy->replica_used(data, node); }
  void replica_dropped(DataId data, NodeId node) override;
  void last_use_ended(DataId data) override { m_policy->last_use_ended(data); }
  void planned_uses_changed(DataId data, GroupId group) override { m_policy->planned_uses_changed(data, group); }

 private:
  SystemView const* m_view = nullptr;
  PlanBoard const* m_board = nullptr;
  std::unique_ptr<EvictionPolicy> m_policy;
  Replicas m_replicas;
  std::shared_ptr<AutoEviction*> m_self = std::make_shared<AutoEviction*>(this);
};

}  // namespace granary::detail
