// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/simulator/reload_counter.hpp>

namespace granary::detail {

void ReloadCounter::performed(Command const& command) {
  if (auto const* const copy = std::get_if<CopyCommand>(&command)) {
    if (copy->to.slot == Slot::Pool) copied(copy->data, copy->to.node, copy->bytes);
  } else if (auto const* const run = std::get_if<RunCommand>(&command)) {
    NodeId const node = planner().topology().machine()[run->worker].node;
    for_each_write(run->description->accesses, [&](Access const& access) { written(access.data, node); });
  } else if (auto const* const begun = std::get_if<BeginCommand>(&command)) {
    for_each_write(planner().view().task(begun->task).accesses, [&](Access const& access) { forgotten(access.data); });
  } else if (auto const* const gone = std::get_if<ForgetCommand>(&command)) {
    forgotten(gone->data);
  }
}

void ReloadCounter::copied(DataId data, NodeId node, Bytes bytes) {
  grow(data);
  auto held = m_held[data.index() * m_nodes + node.index()];
  if (held) {
    ++m_reloads;
    m_bytes += bytes;
  }
  held = true;
}

void ReloadCounter::written(DataId data, NodeId node) {
  grow(data);
  forgotten(data);
  m_held[data.index() * m_nodes + node.index()] = true;
}

void ReloadCounter::forgotten(DataId data) {
  for (std::size_t n = 0; n < m_nodes && data.index() * m_nodes + n < m_held.size(); ++n) {
    m_held[data.index() * m_nodes + n] = false;
  }
}

void ReloadCounter::grow(DataId data) {
  if (m_held.size() < (data.index() + 1) * m_nodes) m_held.resize((data.index() + 1) * m_nodes);
}

}  // namespace granary::detail
