// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An eviction policy of the application: first in, first out.
#include <granary/policy.hpp>

#include <list>
#include <map>

// Evicts the replica that arrived first.
class Oldest final : public granary::EvictionPolicy {
 public:
  void attach(granary::SystemView const& view, granary::PlanBoard const&) override { m_view = &view; }
  void replica_added(granary::DataId data, granary::NodeId node) override { m_replicas[node].push_back(data); }
  void replica_dropped(granary::DataId data, granary::NodeId node) override { m_replicas[node].remove(data); }
  granary::DataId victim(granary::NodeId node) override {
    for (auto const data : m_replicas[node]) {
      if (m_view->evictable(data, node)) return data;
    }
    return {};
  }

 private:
  granary::SystemView const* m_view = nullptr;
  std::map<granary::NodeId, std::list<granary::DataId>> m_replicas;  // the replicas of each node, the oldest first
};

granary::EvictionRegistration const registration("oldest",
                                                 [](granary::PolicyOptions&) { return std::make_unique<Oldest>(); });
