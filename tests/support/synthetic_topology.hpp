// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/discover.hpp>

#include <hwloc.h>

#include <stdexcept>
#include <string>

namespace granary::test {

using namespace detail;

/// A machine in hwloc's notation, such as "numa:2 core:4 pu:1"; all of it may be used.
inline HostTopology synthetic_topology(std::string const& description) {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  if (hwloc_topology_set_synthetic(topology, description.c_str()) != 0 || hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    throw std::invalid_argument("hwloc refuses the topology " + description);
  }
  auto described = describe_topology(topology);
  hwloc_topology_destroy(topology);
  return described;
}

}  // namespace granary::test
