// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/simulator/report.hpp>

namespace granary {

TransferKind transfer_kind(Machine const& machine, Link const& link) {
  NodeKind const from = machine[link.from].kind;
  NodeKind const to = machine[link.to].kind;
  if (from == NodeKind::Peers) return TransferKind::Received;
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

}  // namespace granary
