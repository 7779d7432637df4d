// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/discover.hpp>

#include <granary/detail/core/backends/control_groups.hpp>
#include <granary/detail/core/backends/machine_topology.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <dlfcn.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

namespace granary::detail {

namespace {

constexpr auto own_control_groups = "/proc/self/cgroup";
constexpr auto control_group_root = "/sys/fs/cgroup";

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

template <class Function>
Function* openmp_function(char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// OpenMP's places come from the process's mask, before the runtime narrowed the mask of the calling thread.
void add_openmp_places(hwloc_bitmap_t allowed) {
  auto* count = openmp_function<int()>("omp_get_num_places");
  auto* size = openmp_function<int(int)>("omp_get_place_num_procs");
  auto* members = openmp_function<void(int, int*)>("omp_get_place_proc_ids");
  if (count == nullptr || size == nullptr || members == nullptr) return;
  for (int place = 0; place < count(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(size(place)));
    members(place, ids.data());
    for (int const id : ids) hwloc_bitmap_set(allowed, static_cast<unsigned>(id));
  }
}

// The topology without the parts that the process may not use, and the hardware threads that this thread may run on.
// `machine` is null if hwloc does not support this system.
struct Processors {
  hwloc_topology_t machine;
  Bitmap allowed{hwloc_bitmap_alloc(), &hwloc_bitmap_free};

  explicit Processors(hwloc_topology_t of = machine_topology()) : machine(of) {
    if (machine == nullptr) return;
    if (hwloc_topology_is_thissystem(machine) == 0) {
      hwloc_bitmap_copy(allowed.get(), hwloc_topology_get_allowed_cpuset(machine));
      return;
    }
    if (hwloc_get_cpubind(machine, allowed.get(), HWLOC_CPUBIND_THREAD) != 0) {
      machine = nullptr;
      return;
    }
    add_openmp_places(allowed.get());
    hwloc_bitmap_and(allowed.get(), allowed.get(), hwloc_topology_get_allowed_cpuset(machine));
  }
  [[nodiscard]] Bitmap usable(hwloc_const_cpuset_t set) const {
    Bitmap both(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
    hwloc_bitmap_and(both.get(), set, allowed.get());
    return both;
  }
  template <class Visit>
  void for_each(int depth, Visit const& visit) const {
    for (hwloc_obj_t it = nullptr; (it = hwloc_get_next_obj_by_depth(machine, depth, it)) != nullptr;) visit(*it);
  }
  [[nodiscard]] int core_depth() const { return hwloc_get_type_or_below_depth(machine, HWLOC_OBJ_CORE); }
  // One usable hardware thread of each core in the set.
  [[nodiscard]] std::vector<unsigned> cores(hwloc_const_cpuset_t set) const {
    std::vector<unsigned> found;
    for_each(core_depth(), [&](hwloc_obj const& core) {
      int const first = hwloc_bitmap_first(usable(core.cpuset).get());
      if (first >= 0 && hwloc_bitmap_isset(set, static_cast<unsigned>(first)) != 0)
        found.push_back(static_cast<unsigned>(first));
    });
    return found;
  }
};

std::vector<unsigned> members(hwloc_const_bitmap_t set) {
  std::vector<unsigned> found;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
    found.push_back(static_cast<unsigned>(i));
  return found;
}

std::vector<unsigned> usable_cores(Processors const& processors) {
  std::vector<unsigned> cores;
  if (processors.machine != nullptr) cores = processors.cores(processors.allowed.get());
  if (cores.empty()) cores.push_back(0);
  return cores;
}

std::vector<CacheLevel> caches_of(Processors const& processors) {
  std::vector<CacheLevel> caches;
  for (int depth = 0; depth < hwloc_topology_get_depth(processors.machine); ++depth) {
    if (hwloc_obj_type_is_cache(hwloc_get_depth_type(processors.machine, depth)) == 0) continue;
    processors.for_each(depth, [&](hwloc_obj const& cache) {
      std::array<char, 16> name{};
      hwloc_obj_type_snprintf(name.data(), name.size(), const_cast<hwloc_obj*>(&cache), 0);
      CacheLevel const level{name.data(), cache.attr->cache.size, cache.attr->cache.linesize, 1,
                             static_cast<unsigned>(std::max(hwloc_bitmap_weight(cache.cpuset), 0))};
      auto const alike = std::ranges::find_if(caches, [&](CacheLevel const& known) {
        return known.name == level.name && known.bytes == level.bytes && known.threads == level.threads;
      });
      if (alike != caches.end()) ++alike->count;
      if (alike == caches.end()) caches.push_back(level);
    });
  }
  std::ranges::reverse(caches);  // nearest to the core first
  return caches;
}

Bytes limit_of(__rlimit_resource resource) {
  rlimit limit{};
  bool const known = ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? std::min<Bytes>(limit.rlim_cur, unbounded) : unbounded;
}

}  // namespace

std::string MachineIdentity::id() const {
  auto word = as_word(host + " " + cpu + " " + std::to_string(cores) + " " + blas);
  if (word.front() == '.') word.insert(0, "-");
  return word;
}

MachineIdentity identify_machine(std::filesystem::path const& cpuinfo) {
  utsname names{};
  ::uname(&names);
  MachineIdentity identity{names.nodename, names.machine,
                           static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L)),
                           find_blas_library().id()};
  std::ifstream stream(cpuinfo);
  for (std::string line; std::getline(stream, line);) {
    auto const colon = line.find(':');
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    auto const start = line.find_first_not_of(" \t", colon + 1);
    if (start != std::string::npos) identity.cpu = line.substr(start);
    break;
  }
  return identity;
}

MemoryLimits discover_memory() {
  MemoryLimits memory;
  auto const page = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  memory.physical = static_cast<Bytes>(std::max(::sysconf(_SC_PHYS_PAGES), 0L)) * page;
  memory.control_groups = control_group_memory_limit(own_control_groups, control_group_root);
  memory.address_space = limit_of(RLIMIT_AS);
  memory.data_segment = limit_of(RLIMIT_DATA);
  return memory;
}

HostResources discover_host() { return {usable_cores(Processors()), discover_memory().least()}; }

HostTopology discover_topology() {
  auto topology = describe_topology(machine_topology());
  topology.cpu_quota = control_group_cpu_quota(own_control_groups, control_group_root);
  return topology;
}

HostTopology describe_topology(hwloc_topology* machine) {
  Processors const processors(machine);
  HostTopology topology;
  topology.usable_cores = usable_cores(processors);
  if (processors.machine == nullptr) return topology;
  auto const count = [&](hwloc_obj_type_t type) {
    return static_cast<unsigned>(std::max(hwloc_get_nbobjs_by_type(processors.machine, type), 0));
  };
  topology.packages = count(HWLOC_OBJ_PACKAGE);
  topology.hardware_threads = count(HWLOC_OBJ_PU);
  topology.cores = std::max(count(HWLOC_OBJ_CORE), 1U);
  topology.usable_hardware_threads = static_cast<unsigned>(std::max(hwloc_bitmap_weight(processors.allowed.get()), 0));
  processors.for_each(HWLOC_TYPE_DEPTH_NUMANODE, [&](hwloc_obj const& domain) {
    topology.domains.push_back(
        {domain.os_index, domain.attr->numanode.local_memory, processors.cores(domain.cpuset), members(domain.cpuset)});
  });
  topology.caches = caches_of(processors);
  return topology;
}

}  // namespace granary::detail
