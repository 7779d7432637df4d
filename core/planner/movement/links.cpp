// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/movement/links.hpp>

#include <utility>

namespace granary::detail {

Links::Links(PlannerContext& context) : m_context(context), m_links(context.topology.machine().links.size()) {
  m_context.statistics.links.resize(m_links.size());
}

TransferId Links::queue(DataId data, LinkId link, Place to, bool write_back) {
  TransferId const id(m_next++);
  auto& transfer = m_transfers.create(id);
  transfer.data = data;
  transfer.link = link;
  transfer.to = to;
  transfer.write_back = write_back;
  m_links[link.index()].queue.push_back(id);
  ask(link);
  return id;
}

void Links::ask(LinkId link) {
  if (!std::exchange(m_links[link.index()].asked, true)) m_context.agenda.post(Agenda::StartTransfers{link});
}

TransferId Links::take(LinkId link) {
  auto& state = m_links[link.index()];
  if (state.active >= m_context.topology.machine()[link].width || state.queue.empty()) return {};
  TransferId const first = state.queue.front();
  state.queue.pop_front();
  return first;
}

void Links::start(TransferId id) {
  auto& transfer = m_transfers[id];
  transfer.active = true;
  ++m_links[transfer.link.index()].active;
  ++m_active;
}

Transfer Links::remove(TransferId id) {
  Transfer const removed = m_transfers[id];
  m_transfers.erase(id);
  if (removed.active) {
    --m_links[removed.link.index()].active;
    --m_active;
  }
  return removed;
}

bool Links::busy(LinkId link) const {
  auto const& machine = m_context.topology.machine();
  if (m_links[link.index()].active >= machine[link].width) return true;
  for (std::size_t l = 0; l < m_links.size(); ++l) {
    if (m_links[l].queue.empty()) continue;
    if (l == link.index() || Machine::share_a_bus(machine.links[l], machine[link])) return true;
  }
  return false;
}

}  // namespace granary::detail
