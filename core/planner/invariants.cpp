// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/core/planner/planner.hpp>

#include <map>
#include <string>

namespace granary {
namespace {

void demand(bool holds, std::string const& what) {
  if (!holds) throw InternalError("broken invariant: " + what);
}

}  // namespace

void Planner::check_invariants() const {
  check_nodes();
  check_data();
  check_tasks();
}

void Planner::check_nodes() const {
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    auto const& node = m_nodes[n];
    auto const& name = m_topology.machine().nodes[n].name;
    NodeId const id(static_cast<std::uint32_t>(n));
    Bytes used = 0;
    Bytes evicting = 0;
    Bytes end = 0;
    for (auto const& [offset, block] : node.ledger.blocks()) {
      demand(offset >= end, "two places overlap on node '" + name + "'");
      end = offset + block.size;
      used += block.size;
      auto const* replica = known(block.data) ? record(block.data).find(id, Slot::Pool) : nullptr;
      demand(replica != nullptr && replica->offset == offset, "a place on node '" + name + "' belongs to no replica");
      if (replica->evicting) evicting += block.size;
    }
    demand(end <= node.ledger.capacity(), "node '" + name + "' is used beyond its capacity");
    demand(used == node.ledger.used(), "node '" + name + "' miscounts its bytes in use");
    demand(evicting == node.evicting, "node '" + name + "' miscounts the bytes that are being evicted");
  }
  std::uint32_t active = 0;
  for (std::size_t l = 0; l < m_links.size(); ++l) {
    demand(m_links[l].active <= m_topology.machine().links[l].width, "a link carries more transfers than its width");
    active += m_links[l].active;
  }
  demand(active == m_active_transfers, "the transfers in flight are miscounted");
}

void Planner::check_data() const {
  std::uint32_t going_home = 0;
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    auto const& data = m_data[d];
    DataId const id(static_cast<std::uint32_t>(d));
    if (!known(id)) continue;
    auto const& name = data.description.name;
    going_home += data.going_home ? 1 : 0;
    std::uint32_t writers = 0;
    for (auto const& replica : data.replicas) {
      writers += replica.writers;
      demand(replica.writers == 0 || replica.pins > 0, "a replica of '" + name + "' is written and not held");
      if (replica.slot != Slot::Pool) continue;
      demand(replica.valid || replica.pins > 0 || replica.incoming.valid() || replica.readers > 0,
             "a place of '" + name + "' serves nobody");
      demand(!replica.evicting || replica.pins == 0, "a replica of '" + name + "' is evicted while it is held");
    }
    demand(data.poisoned || data.stale || writers > 0 || !data.defined || data.has_value() ||
               m_graph.pending_writers(id) > 0,
           "the last valid replica of '" + name + "' is lost");
    for (auto const& hop : data.hops) {
      auto const* const target = data.on(hop.target);
      demand(target != nullptr && !target->valid && target->pins > 0, "a hop of '" + name + "' serves nobody");
      demand(!data.waits_for(hop.via, hop.target), "the hops of '" + name + "' lead in a circle");
    }
    demand(data.active <= data.transfers, "'" + name + "' miscounts its transfers");
  }
  demand(going_home == m_going_home, "the data on their way home are miscounted");
}

void Planner::check_tasks() const {
  std::map<std::pair<DataId, NodeId>, std::uint32_t> holds;
  std::uint32_t issued = 0;
  for (std::size_t g = 0; g < m_groups.size(); ++g) {
    std::uint32_t ahead = 0;
    NodeId const node = m_topology.groups()[g].node;
    for (TaskId const id : m_groups[g].committed) {
      Task const& task = m_graph[id];
      demand(task.predecessors == 0 || task.phase == TaskPhase::Issued,
             "a task was committed before its predecessors ended");
      bool const placed = task.phase == TaskPhase::Fetching || task.phase == TaskPhase::Issued;
      (task.phase == TaskPhase::Issued ? issued : ahead) += 1;
      for (auto const& access : task.accesses) {
        if (access.repeated || !placed) continue;
        ++holds[{access.data, node}];
        auto const* replica = record(access.data).on(node);
        demand(replica != nullptr, "a task holds no place for '" + record(access.data).description.name + "'");
        bool const readable = replica->valid || record(access.data).poisoned || task.cancelled ||
                              (task.predecessors > 0 && replica->writers > 0);
        demand(task.phase != TaskPhase::Issued || !reads(access.mode) || readable,
               "a running task reads '" + record(access.data).description.name + "', which is not valid there");
      }
    }
    demand(ahead == m_groups[g].ahead, "a group miscounts its committed tasks");
  }
  demand(issued == m_issued, "the issued tasks are miscounted");
  for (std::size_t d = 0; d < m_data.size(); ++d) {
    DataId const data(static_cast<std::uint32_t>(d));
    for (auto const& hop : m_data[d].hops) holds[{data, hop.via}] += hop.pinned ? 1 : 0;
    for (auto const& replica : m_data[d].replicas) {
      auto const held = holds.find({data, replica.node});
      bool const usable = replica.slot == m_data[d].slot_on(replica.node);
      std::uint32_t const pins = usable && held != holds.end() ? held->second : 0;
      demand(replica.pins == pins, "a replica of '" + m_data[d].description.name + "' miscounts who holds it");
    }
  }
}

}  // namespace granary
