// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

struct hwloc_topology;

namespace granary::detail {

/// This machine as hwloc describes it, without what the process may not use; null where hwloc knows nothing of this
/// system. Loaded once per process, since that takes tens of milliseconds on a large node; may be read by several
/// threads.
[[nodiscard]] hwloc_topology* machine_topology();

}  // namespace granary::detail
