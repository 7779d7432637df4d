// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolution of stalls: which task gives up its memory, and which fails.
#include <granary/core/base/error.hpp>
#include <granary/core/planner/planner.hpp>

#include <algorithm>
#include <utility>

namespace granary {

bool Planner::resolve_stall() {
  if (m_issued > 0 || m_active_transfers > 0 || (m_graph.size() == 0 && m_going_home == 0)) return false;
  if (!m_alone.valid()) {
    m_alone = oldest_committed();
    if (m_alone.valid()) {
      give_way_to(m_graph[m_alone]);
      return true;
    }
    if (offer_to_all_groups()) return true;
  }
  return fail_one();
}

// A scheduler that decides by estimates may let each group leave a ready task to another one that was asked before the
// estimates changed. Once for each time that all stand still.
bool Planner::offer_to_all_groups() {
  if (m_graph.size() == 0 || std::exchange(m_offered_to_all, true)) return false;
  for (std::uint32_t g = 0; g < m_groups.size(); ++g) m_agenda.post(Agenda::Commit{GroupId(g)});
  return true;
}

TaskId Planner::oldest_committed() const {
  TaskId oldest;
  for (auto const& group : m_groups) {
    for (TaskId const id : group.committed) {
      if (m_graph[id].phase != TaskPhase::Issued) oldest = std::min(oldest, id);
    }
  }
  return oldest;
}

// Tasks on several nodes may hold the memory through which each other's data must pass. All but one release theirs
// until that one has started: alone it fits, as its submission checked.
void Planner::give_way_to(Task const& task) {
  for (auto& group : m_groups) {
    for (std::size_t i = group.fetching.size(); i-- > 0;) {
      Task& other = m_graph[group.fetching[i]];
      if (other.id == task.id) continue;
      let_go_of_places(other);
      other.phase = TaskPhase::Committed;
      node_of(other).waiting.push_front(other.id);
    }
  }
  auto& waiting = m_nodes[m_topology.group(task.group).node.index()].waiting;
  auto const place = std::ranges::find(waiting, task.id);
  if (place != waiting.end()) std::rotate(waiting.begin(), place, place + 1);
  let_all_look_for_room();
}

void Planner::let_all_look_for_room() {
  for (std::size_t n = 0; n < m_nodes.size(); ++n)
    m_agenda.post(Agenda::GiveRoom{NodeId(static_cast<std::uint32_t>(n))});
}

void Planner::end_being_alone() {
  m_alone = {};
  let_all_look_for_room();
}

// No room will become free: the first waiting task fails. If values failed to get home, they keep their memory and are
// reported already: tasks submitted since are then cancelled as the others were.
bool Planner::fail_one() {
  auto const out_of_room = [&](NodeId node, std::string const& who) {
    auto const& ledger = m_nodes[node.index()].ledger;
    return std::make_exception_ptr(
        MemoryLimitError(who + " finds no room in memory node '" + m_topology.machine()[node].name + "' (" +
                         std::to_string(ledger.free_bytes()) + " of " + std::to_string(ledger.capacity()) +
                         " bytes are free, and no other data there can be written back or dropped)"));
  };
  if (m_alone.valid()) {
    if (std::ranges::any_of(m_failures, [](Failure const& failure) { return !failure.task.valid(); })) {
      cancel_unissued();
      return true;
    }
    Task& task = m_graph[m_alone];
    fail(task, out_of_room(m_topology.group(task.group).node, name_of(task)));
    return true;
  }
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    auto& state = m_nodes[n];
    if (state.write_backs.empty()) continue;
    DataId const data = state.write_backs.front().data;
    state.write_backs.pop_front();
    if (known(data)) {
      fail_write_back(
          data, out_of_room(NodeId(static_cast<std::uint32_t>(n)), "data '" + record(data).description.name + "'"));
    }
    return true;
  }
  return false;
}

}  // namespace granary
