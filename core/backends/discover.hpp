// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>

#include <filesystem>
#include <vector>

namespace granary {

/// What of the host this process may use.
struct HostResources {
  /// One hardware thread (the system's number) of each core that the process may run on, in the machine's order; at
  /// least one.
  std::vector<unsigned> cores;
  /// The least of physical memory, the control groups' limits and RLIMIT_AS.
  Bytes memory = 0;
};

/// Asks hwloc and the system. Where an OpenMP runtime has bound the calling thread to one of its places
/// (OMP_PROC_BIND), the cores are those of all its places.
[[nodiscard]] HostResources discover_host();

/// The least memory limit of the control groups in `membership` (the format of /proc/self/cgroup), versions 1 and 2,
/// whose files stand below `root` (/sys/fs/cgroup); `unbounded` when there is none.
[[nodiscard]] Bytes control_group_memory_limit(std::filesystem::path const& membership,
                                               std::filesystem::path const& root);

}  // namespace granary
