// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "describe.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>
#include <granary/detail/linalg/kernels/kernel_speed.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>
#include <granary/detail/outofcore/io_engines.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/host_plan.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>

#include <algorithm>
#include <filesystem>

#include "apps/common/choose_blas.hpp"
#include "apps/common/version.hpp"
#include "devices.hpp"

namespace granary::app {

using namespace detail;

namespace {

using Json = nlohmann::ordered_json;

Json limit(Bytes bytes) { return bytes >= unbounded ? Json() : Json(bytes); }

std::vector<std::string> kokkos_backends() {
  std::vector<std::string> backends;
#if defined(KOKKOS_ENABLE_SERIAL)
  backends.emplace_back("Serial");
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  backends.emplace_back("OpenMP");
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  backends.emplace_back("Threads");
#endif
#if defined(KOKKOS_ENABLE_CUDA)
  backends.emplace_back("CUDA");
#endif
#if defined(KOKKOS_ENABLE_HIP)
  backends.emplace_back("HIP");
#endif
  return backends;
}

Json name_or_null(std::string const& name) { return name.empty() ? Json() : Json(name); }

Json describe_blas() {
  auto const blas = find_blas_library();
  int const threads = blas_threads();
  return {{"name", blas.text},
          {"file", name_or_null(blas.file)},
          {"threads", threads > 0 ? Json(threads) : Json()},
          {"kernels", name_or_null(blas.kernels)},
          {"kernels_without_granary", name_or_null(kernels_before_choice())},
          {"vectors", name_of(blas.vectors())},
          {"remark", describe_kernels(blas)}};
}

// Of one core, double precision.
Json describe_speed() {
  constexpr int tile = 512;
  BlasLimit const one_thread(1);
  auto const speeds = measure_kernels<double>(tile);
  // The peak is at least what a kernel reaches: another program may have slowed the loop that measures it.
  auto const peak = std::max({fma_peak<double>(), speeds.gemm, speeds.syrk, speeds.trsm, speeds.potrf});
  return {{"peak_flops", peak},        {"tile", tile},
          {"gemm_flops", speeds.gemm}, {"syrk_flops", speeds.syrk},
          {"trsm_flops", speeds.trsm}, {"potrf_flops", speeds.potrf}};
}

Json describe_software() {
  auto const of = versions();
  std::string const vendor = vendor_backend();
  return {{"version", of.granary},
          {"kokkos",
           {{"version", of.kokkos},
            {"backends", kokkos_backends()},
            {"host", HostExecutionSpace::name()},
            {"concurrent_host_kernels", concurrent_host_kernels},
            {"several_cores_per_worker", has_team_space}}},
          {"kokkos_kernels", of.kokkos_kernels == "none" ? Json() : Json(of.kokkos_kernels)},
          {"blas", describe_blas()},
          {"host_tile_kernels", host_kernels_description()},
          {"hdf5", of.hdf5},
          {"io_uring", uring_available()},
          {"device_backend", vendor.empty() ? Json() : Json(vendor)}};
}

Json describe_workers(RuntimeOptions const& options, HostPlan const& plan) {
  Json bound = Json::array();
  for (auto const& group : plan.workers)
    bound.push_back({{"cores", group.cores}, {"numa_domain", group.domain ? Json(*group.domain) : Json()}});
  return {{"count", *options.workers},
          {"cores_each", options.cores_per_worker},
          {"blas_threads", blas_threads_of(options, blas_has_threads_by_caller())},
          {"bound_to", bound}};
}

Json describe_host(HostTopology const& topology) {
  auto const identity = identify_machine();
  Json domains = Json::array();
  for (auto const& domain : topology.domains) {
    domains.push_back({{"number", domain.number}, {"memory_bytes", domain.memory}, {"usable_cores", domain.cores}});
  }
  Json caches = Json::array();
  for (auto const& level : topology.caches) {
    caches.push_back({{"name", level.name},
                      {"bytes", level.bytes},
                      {"line_bytes", level.line},
                      {"count", level.count},
                      {"hardware_threads", level.threads}});
  }
  return {{"name", identity.host},
          {"cpu", identity.cpu},
          {"vectors", name_of(processor_vector_units())},
          {"packages", topology.packages},
          {"cores", topology.cores},
          {"hardware_threads", topology.hardware_threads},
          {"usable_hardware_threads", topology.usable_hardware_threads},
          {"usable_cores", topology.usable_cores},
          {"cpu_quota_cores", topology.cpu_quota ? Json(*topology.cpu_quota) : Json()},
          {"numa_domains", domains},
          {"caches", caches}};
}

Json describe_memory(RuntimeOptions const& options, HostPlan const& plan) {
  auto const memory = discover_memory();
  char const* limited_by = "physical memory";
  if (memory.least() == memory.control_groups) limited_by = "control groups";
  if (memory.least() == memory.address_space) limited_by = "RLIMIT_AS";
  if (memory.least() == memory.data_segment) limited_by = "RLIMIT_DATA";
  return {{"physical_bytes", memory.physical},
          {"control_groups_bytes", limit(memory.control_groups)},
          {"address_space_bytes", limit(memory.address_space)},
          {"data_segment_bytes", limit(memory.data_segment)},
          {"usable_bytes", memory.least()},
          {"limited_by", limited_by},
          {"granary_limit_bytes", options.host_memory},
          {"interleaved_over", plan.memory_domains}};
}

Json describe_policies(RuntimeOptions const& options) {
  Json schedulers = Json::array();
  for (auto const& name : all_scheduler_names()) {
    schedulers.push_back({{"name", name}, {"eviction", default_eviction(name)}});
  }
  return {{"scheduler", options.scheduler},
          {"eviction", options.eviction},
          {"schedulers", schedulers},
          {"evictions", eviction_names()}};
}

Json describe_models(RuntimeOptions options, Devices const& devices) {
  options.measure_links = false;
  auto const file = MachineCache(options, devices).file();
  if (file.empty()) return {{"directory", Json()}, {"file", Json()}, {"exists", false}};
  std::error_code error;
  return {{"directory", options.models}, {"file", file.string()}, {"exists", std::filesystem::exists(file, error)}};
}

}  // namespace

Json describe_machine(InfoOptions const& options) {
  auto const devices = find_devices(options.runtime);
  auto const links = describe_links(options, devices);
  auto const topology = discover_topology();
  auto const plan = plan_host(options.runtime, topology);
  return {{"granary", describe_software()},
          {"host", describe_host(topology)},
          {"workers", describe_workers(options.runtime, plan)},
          {"core_speed", describe_speed()},
          {"memory", describe_memory(options.runtime, plan)},
          {"devices", describe_devices(options.runtime, devices)},
          {"links", links},
          {"policies", describe_policies(options.runtime)},
          {"models", describe_models(options.runtime, devices)}};
}

}  // namespace granary::app
