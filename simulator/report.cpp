// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/simulator/report.hpp>

namespace granary {

TransferKind transfer_kind(Machine const& machine, Link const& link) {
  NodeKind const from = machine[link.from].kind;
  NodeKind const to = machine[link.to].kind;
  if (from == NodeKind::Disk) return TransferKind::DiskRead;
  if (to == NodeKind::Disk) return TransferKind::DiskWrite;
  if (from == NodeKind::Device) {
    return to == NodeKind::Device ? TransferKind::DeviceToDevice : TransferKind::DeviceToHost;
  }
  return to == NodeKind::Device ? TransferKind::HostToDevice : TransferKind::HostToHost;
}

Bytes SimulationReport::bytes() const {
  Bytes total = 0;
  for (auto const& kind : traffic) total += kind.bytes;
  return total;
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

}  // namespace granary
