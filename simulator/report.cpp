// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/simulator/report.hpp>

namespace granary {

detail::TransferKind transfer_kind(detail::Machine const& machine, detail::Link const& link) {
  detail::NodeKind const from = machine[link.from].kind;
  detail::NodeKind const to = machine[link.to].kind;
  if (from == detail::NodeKind::Peers) return detail::TransferKind::Received;
  if (from == detail::NodeKind::Disk) return detail::TransferKind::DiskRead;
  if (to == detail::NodeKind::Disk) return detail::TransferKind::DiskWrite;
  if (from == detail::NodeKind::Device) {
    return to == detail::NodeKind::Device ? detail::TransferKind::DeviceToDevice : detail::TransferKind::DeviceToHost;
  }
  return to == detail::NodeKind::Device ? detail::TransferKind::HostToDevice : detail::TransferKind::HostToHost;
}

Bytes SimulationReport::bytes() const {
  Bytes total = 0;
  for (auto const& kind : traffic) total += kind.bytes;
  return total;
}

}  // namespace granary
