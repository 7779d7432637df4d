// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

struct hwloc_topology;

namespace granary::detail {

/// The resources of the host that this process may use.
struct GRANARY_EXPORT HostResources {
  /// One hardware thread (the system's number) of each core that the process may run on, in the machine's order; at
  /// least one.
  std::vector<unsigned> cores;
  /// MemoryLimits::least.
  Bytes memory = 0;
};

/// Queries hwloc and the system. If an OpenMP runtime has bound the calling thread to one of its places
/// (OMP_PROC_BIND), the cores of all its places count.
[[nodiscard]] GRANARY_EXPORT HostResources discover_host();

/// Limits on the memory that the process may use; `unbounded` if there is none.
struct GRANARY_EXPORT MemoryLimits {
  Bytes physical = 0;
  Bytes control_groups = unbounded;
  Bytes address_space = unbounded;  ///< RLIMIT_AS
  Bytes data_segment = unbounded;   ///< RLIMIT_DATA: of private memory that can be written

  [[nodiscard]] Bytes least() const { return std::min({physical, control_groups, address_space, data_segment}); }
};

[[nodiscard]] GRANARY_EXPORT MemoryLimits discover_memory();

/// Memory and its nearest cores.
struct GRANARY_EXPORT NumaDomain {
  unsigned number = 0;                 ///< the system's number
  Bytes memory = 0;                    ///< physical
  std::vector<unsigned> cores = {};    ///< as in HostResources::cores
  std::vector<unsigned> threads = {};  ///< all its hardware threads
};

/// Caches of equal level, type and size.
struct GRANARY_EXPORT CacheLevel {
  std::string name;  ///< "L1d", "L2", ...
  Bytes bytes = 0;   ///< each
  unsigned line = 0;
  unsigned count = 0;
  unsigned threads = 0;  ///< hardware threads that share one cache
};

/// The host as hwloc sees it; counts are 0 and lists empty if hwloc does not support the system.
struct GRANARY_EXPORT HostTopology {
  unsigned packages = 0;
  unsigned cores = 0;
  unsigned hardware_threads = 0;
  unsigned usable_hardware_threads = 0;  ///< that the process may run on
  std::vector<unsigned> usable_cores;    ///< as HostResources::cores
  std::vector<NumaDomain> domains;
  std::vector<CacheLevel> caches;  ///< the nearest to the core first
  /// The processor time that control groups allow, in cores; absent: as much as the cores have.
  std::optional<double> cpu_quota;
};

[[nodiscard]] GRANARY_EXPORT HostTopology discover_topology();

/// The same of another machine's topology, for example a synthetic one of hwloc; null: of a system that hwloc does not
/// support. It has no control groups.
[[nodiscard]] GRANARY_EXPORT HostTopology describe_topology(hwloc_topology* machine);

/// Identifies a machine, independently of what this process may use.
struct GRANARY_EXPORT MachineIdentity {
  std::string host;  ///< host name
  std::string cpu;   ///< the processor's model, or its architecture if the system does not report the model
  unsigned cores = 0;
  std::string blas;  ///< BlasLibrary::id(): kernels have the times of the library that they were learnt with

  /// All as one word of letters, digits, dots and dashes, for the name of a folder.
  [[nodiscard]] std::string id() const;
};

/// `cpuinfo` is in the format of /proc/cpuinfo.
[[nodiscard]] GRANARY_EXPORT MachineIdentity identify_machine(std::filesystem::path const& cpuinfo = "/proc/cpuinfo");

}  // namespace granary::detail
