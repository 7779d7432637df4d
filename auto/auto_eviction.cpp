// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/auto_eviction.hpp>

#include <utility>

namespace granary::detail {

void AutoEviction::use(std::unique_ptr<EvictionPolicy> policy) {
  m_policy = std::move(policy);
  if (m_view == nullptr) return;
  m_policy->attach(*m_view, *m_board);
  for (auto const& [data, node] : m_replicas.sorted()) m_policy->replica_added(data, node);
}

void AutoEviction::attach(SystemView const& view, PlanBoard const& board) {
  m_view = &view;
  m_board = &board;
  if (m_policy) m_policy->attach(view, board);
}

void AutoEviction::replica_added(DataId data, NodeId node) {
  m_replicas.add(data, node);
  m_policy->replica_added(data, node);
}

void AutoEviction::replica_dropped(DataId data, NodeId node) {
  m_replicas.remove(data, node);
  m_policy->replica_dropped(data, node);
}

}  // namespace granary::detail
