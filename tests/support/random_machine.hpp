// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/machine.hpp>

namespace granary::test {

/// One to five nodes in a tree, sometimes with peer links: disks, hosts and devices, several workers and groups on most
/// of them, links of different speeds that may share a bus. All nodes are unbounded: the test that knows the data sets
/// the capacities. There is at least one worker, and disks have none.
[[nodiscard]] detail::Machine random_machine(detail::Random& random);

struct DeviceMachineOptions {
  int devices = 1;
  bool cpu_workers = false;
  bool disk = false;   ///< behind the host
  bool peers = false;  ///< links between devices
  Bytes host_alignment = 64;
};
/// A host with so many devices of one to three lanes each.
[[nodiscard]] detail::Machine device_machine(DeviceMachineOptions const& options, detail::Random& random);

/// True if a value without a home can leave the nodes of workers: some unbounded node has no workers.
[[nodiscard]] bool has_storage(detail::Machine const& machine);
[[nodiscard]] bool has_workers(detail::Machine const& machine, NodeId node);

}  // namespace granary::test
