// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/discover.hpp>

#include <granary/core/model/machine.hpp>

#include <dlfcn.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

namespace granary {

namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

template <class Function>
Function* loaded(char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// OpenMP's places were made from the process's mask before its runtime narrowed that of the calling thread.
void add_openmp_places(hwloc_bitmap_t allowed) {
  auto* count = loaded<int()>("omp_get_num_places");
  auto* size = loaded<int(int)>("omp_get_place_num_procs");
  auto* members = loaded<void(int, int*)>("omp_get_place_proc_ids");
  if (count == nullptr || size == nullptr || members == nullptr) return;
  for (int place = 0; place < count(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(size(place)));
    members(place, ids.data());
    for (int const id : ids) hwloc_bitmap_set(allowed, static_cast<unsigned>(id));
  }
}

std::vector<unsigned> allowed_cores() {
  hwloc_topology_t raw = nullptr;
  hwloc_topology_init(&raw);
  Topology const topology(raw, &hwloc_topology_destroy);
  Bitmap const allowed(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  std::vector<unsigned> cores;
  if (hwloc_topology_load(raw) == 0 && hwloc_get_cpubind(raw, allowed.get(), HWLOC_CPUBIND_THREAD) == 0) {
    add_openmp_places(allowed.get());
    hwloc_bitmap_and(allowed.get(), allowed.get(), hwloc_topology_get_allowed_cpuset(raw));
    auto const depth = hwloc_get_type_or_below_depth(raw, HWLOC_OBJ_CORE);
    for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_depth(raw, depth, core)) != nullptr;) {
      Bitmap const usable(hwloc_bitmap_dup(core->cpuset), &hwloc_bitmap_free);
      hwloc_bitmap_and(usable.get(), usable.get(), allowed.get());
      int const first = hwloc_bitmap_first(usable.get());
      if (first >= 0) cores.push_back(static_cast<unsigned>(first));
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

Bytes limit_in(std::filesystem::path const& file) {
  std::ifstream stream(file);
  Bytes limit = 0;
  // "max" and absent files do not parse.
  return stream >> limit ? std::min(limit, unbounded) : unbounded;
}

Bytes least_limit_upwards(std::filesystem::path const& root, std::string const& group, char const* file) {
  Bytes least = limit_in(root / file);
  std::filesystem::path path;
  for (auto const& part : std::filesystem::path(group).relative_path()) {
    path /= part;
    least = std::min(least, limit_in(root / path / file));
  }
  return least;
}

}  // namespace

Bytes control_group_memory_limit(std::filesystem::path const& membership, std::filesystem::path const& root) {
  Bytes least = unbounded;
  std::ifstream stream(membership);
  for (std::string line; std::getline(stream, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    auto const controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    auto const group = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, least_limit_upwards(root, group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, least_limit_upwards(root / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::string MachineIdentity::id() const {
  std::string word;
  for (char const c : host + " " + cpu + " " + std::to_string(cores)) {
    bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (plain) word += c;
    if (!plain && !word.empty() && word.back() != '-') word += '-';
  }
  if (word.front() == '.') word.insert(0, "-");
  return word;
}

MachineIdentity identify_machine(std::filesystem::path const& cpuinfo) {
  utsname names{};
  ::uname(&names);
  MachineIdentity identity{names.nodename, names.machine,
                           static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L))};
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

HostResources discover_host() {
  HostResources resources{allowed_cores(), 0};
  auto const pages = static_cast<Bytes>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  resources.memory = pages * static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  resources.memory = std::min(resources.memory, control_group_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
  rlimit address_space{};
  if (::getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    resources.memory = std::min<Bytes>(resources.memory, address_space.rlim_cur);
  }
  return resources;
}

}  // namespace granary
