// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/machine_topology.hpp>

#include <hwloc.h>

#include <memory>

namespace granary::detail {

hwloc_topology* machine_topology() {
  static auto const topology = [] {
    std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> loaded(nullptr, &hwloc_topology_destroy);
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return loaded;
    loaded.reset(raw);
    if (hwloc_topology_load(raw) != 0) loaded.reset();
    return loaded;
  }();
  return topology.get();
}

}  // namespace granary::detail
