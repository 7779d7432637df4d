// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>

#include <filesystem>
#include <string>
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

/// What tells one machine from another; it does not depend on what this process may use.
struct MachineIdentity {
  std::string host;  ///< its name
  std::string cpu;   ///< the processor's model, or its architecture where the system does not say
  unsigned cores = 0;

  /// All three in one word of letters, digits, dots and dashes, for the name of a folder.
  [[nodiscard]] std::string id() const;
};

/// `cpuinfo` is in the format of /proc/cpuinfo.
[[nodiscard]] MachineIdentity identify_machine(std::filesystem::path const& cpuinfo = "/proc/cpuinfo");

/// The least memory limit of the control groups in `membership` (the format of /proc/self/cgroup), versions 1 and 2,
/// whose files stand below `root` (/sys/fs/cgroup); `unbounded` when there is none.
[[nodiscard]] Bytes control_group_memory_limit(std::filesystem::path const& membership,
                                               std::filesystem::path const& root);

}  // namespace granary
