// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/page_placement.hpp>

#include <granary/detail/core/backends/machine_topology.hpp>

#include <hwloc.h>

namespace granary::detail {

bool interleave_pages(std::byte* memory, Bytes bytes, std::vector<unsigned> const& domains) {
  auto* const topology = machine_topology();
  if (domains.empty() || bytes == 0) return true;
  if (topology == nullptr) return false;
  hwloc_bitmap_t const set = hwloc_bitmap_alloc();
  for (unsigned const domain : domains) hwloc_bitmap_set(set, domain);
  int const result =
      hwloc_set_area_membind(topology, memory, bytes, set, HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET);
  hwloc_bitmap_free(set);
  return result == 0;
}

}  // namespace granary::detail
