// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/warnings.hpp>

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/host_plan.hpp>

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <set>

namespace granary {

using namespace detail;

namespace {

std::vector<std::string> schedulers_that_heed_priorities() {
  auto names = scheduler_names();
  std::erase_if(names, [](auto const& name) { return !make_scheduler(name)->traits().heeds_priorities; });
  return names;
}

}  // namespace

Environment find_environment(RuntimeOptions const& options) {
  auto const host = discover_topology();
  return {.cores = host.usable_cores.size(),
          .room = room_for_workers(options, host),
          .memory = discover_memory().least(),
          .openmp_threads = openmp_threads(),
          .blas_is_held = blas_threads() != 0,
          .cpu_quota = host.cpu_quota,
          .in_quota = workers_in_quota(options, host)};
}

std::vector<std::string> find_warnings(RuntimeOptions const& options, Environment const& around) {
  std::vector<std::string> warnings;
  auto const workers = *options.workers;
  auto const each = options.cores_per_worker;
  if (workers > around.room) {
    warnings.push_back(fmt::format(
        "{} workers{} share the {} cores that this process may use and are not bound to cores: use fewer workers "
        "(--workers, GRANARY_WORKERS), or ask the batch system for more cores",
        workers, each > 1 ? fmt::format(" of {} cores", each) : "", around.cores));
  }
  if (around.cpu_quota && workers > around.in_quota) {
    warnings.push_back(fmt::format(
        "{} workers{} share the processor time of {:.3g} cores that control groups allow, and are stopped when it is "
        "used up: use fewer workers (--workers, GRANARY_WORKERS), or raise the quota of the container or job",
        workers, each > 1 ? fmt::format(" of {} cores", each) : "", *around.cpu_quota));
  }
  if (workers > 1 && around.openmp_threads > 1 && !around.blas_is_held) {
    warnings.push_back(
        fmt::format("{} workers call BLAS with OMP_NUM_THREADS={}, and granary cannot limit this "
                    "BLAS to one thread: set OMP_NUM_THREADS=1",
                    workers, around.openmp_threads));
  }
  if (options.host_memory > around.memory) {
    warnings.push_back(fmt::format(
        "the memory limit of {} is more than the {} that this process may use, so the system may swap or kill it: "
        "lower the limit (--memory, GRANARY_MEMORY)",
        format_bytes(options.host_memory), format_bytes(around.memory)));
  }
  return warnings;
}

std::vector<std::string> find_warnings(RuntimeOptions const& options, EngineStatistics const& run, int blas_threads) {
  std::vector<std::string> warnings;
  if (run.priorities_ignored) {
    warnings.push_back(
        fmt::format("the scheduler '{}' ignores the priorities of this run's tasks: {} use them (--scheduler, "
                    "GRANARY_SCHEDULER)",
                    options.scheduler, fmt::join(schedulers_that_heed_priorities(), ", ")));
  }
  if (run.device_need > 0) {
    warnings.push_back(fmt::format(
        "no task fits in device memory, so cores run all tasks: each device has {} bytes for data under its limit of "
        "{} bytes, and the largest task needs {} bytes there: raise the limit (--device-memory, "
        "GRANARY_DEVICE_MEMORY) or use smaller tiles (--tile)",
        device_capacity(options), options.device_memory, run.device_need));
  }
  if (run.planner.booking.alone > 0) {
    warnings.push_back(fmt::format(
        "submitted tasks ran one at a time, {} times, because data that no task can free have booked the memory limit "
        "of {}, up to {}: raise the limit (--memory, GRANARY_MEMORY), use more processes, or submit without limits "
        "(--booking none, GRANARY_BOOKING)",
        run.planner.booking.alone, format_bytes(options.host_memory), format_bytes(run.planner.booking.peak)));
  }
  if (*options.workers > 1 && blas_threads > blas_threads_of(options, blas_has_threads_by_caller())) {
    warnings.push_back(fmt::format(
        "BLAS was given {} threads per call while {} workers call it concurrently: do not change its number "
        "of threads while a Runtime exists",
        blas_threads, *options.workers));
  }
  return warnings;
}

bool warn_once(std::string const& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  {
    std::lock_guard const lock(mutex);
    if (!said.insert(text).second) return false;
  }
  spdlog::warn("granary: {}", text);
  return true;
}

}  // namespace granary
