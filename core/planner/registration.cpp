// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of codelets and data.
#include <granary/core/base/error.hpp>
#include <granary/core/planner/planner.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace granary {

CodeletId Planner::add_codelet(Codelet codelet) {
  m_codelets.push_back(std::move(codelet));
  CodeletId const id(static_cast<std::uint32_t>(m_codelets.size() - 1));
  m_estimator.codelet_added(id, m_codelets.back());
  return id;
}

DataId Planner::add_data(DataDescription description) {
  auto const& machine = m_topology.machine();
  auto const refuse = [&](std::string const& why) { throw InvalidArgument("data '" + description.name + "' " + why); };
  if (description.bytes == 0) refuse("has no bytes");
  auto const unknown = [&](NodeId node) { return node.valid() && node.index() >= machine.nodes.size(); };
  if (unknown(description.origin) || unknown(description.home)) refuse("names a memory node that does not exist");
  auto const has_workers = [&](NodeId node) { return !m_topology.groups_on(node).empty(); };
  if (description.origin_is_home && description.home != description.origin)
    refuse("has an origin that is not its home");
  if (description.home.valid() && description.in_place != has_workers(description.home)) {
    refuse("must be used in place if and only if its home's node has workers");
  }
  if (description.origin.valid() && !description.origin_is_home && has_workers(description.origin)) {
    refuse("has an origin on a node with workers that is not its home");
  }

  DataId id;
  if (m_free_data.empty()) {
    id = DataId(static_cast<std::uint32_t>(m_data.size()));
    m_data.emplace_back();
  } else {
    id = m_free_data.back();
    m_free_data.pop_back();
  }
  auto& added = m_data[id.index()];
  added = {};
  if (description.origin.valid() && !description.origin_is_home) {
    added.replicas.emplace_back(description.origin, Slot::Origin, 0, true);
  }
  if (description.home.valid()) {
    added.replicas.emplace_back(description.home, Slot::Home, 0, description.origin_is_home);
  }
  added.defined = description.origin.valid();
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    if (!m_topology.between_others(NodeId(static_cast<std::uint32_t>(n)))) continue;
    m_nodes[n].reserve = std::max(m_nodes[n].reserve, m_nodes[n].ledger.rounded(description.bytes));
  }
  added.description = std::move(description);
  return id;
}

void Planner::retain_data(DataId data) {
  if (!known(data)) throw InvalidArgument("data " + std::to_string(data.value()) + " is retained but not registered");
  ++record(data).registrations;
}

void Planner::release_data(DataId data) {
  if (!known(data) || record(data).released()) {
    throw InvalidArgument("data " + std::to_string(data.value()) + " is released but not registered");
  }
  if (--record(data).registrations > 0) return;
  m_agenda.post(Agenda::Forget{data});
  advance();
}

}  // namespace granary
