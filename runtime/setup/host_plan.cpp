// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/host_plan.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/setup/devices.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace granary {

using namespace detail;

namespace {

std::vector<unsigned> const& cores_of(RuntimeOptions const& options, HostTopology const& host) {
  return options.cores.empty() ? host.usable_cores : options.cores;
}

std::vector<CoreGroup> groups_of(RuntimeOptions const& options, HostTopology const& host) {
  auto const none = std::vector<NumaDomain>();
  return divide_cores(cores_of(options, host), options.bind_workers ? host.domains : none,
                      std::max(options.cores_per_worker, 1U));
}

}  // namespace

unsigned room_for_workers(RuntimeOptions const& options, HostTopology const& host) {
  return static_cast<unsigned>(groups_of(options, host).size());
}

unsigned workers_in_quota(RuntimeOptions const& options, HostTopology const& host) {
  auto const most = static_cast<double>(std::numeric_limits<unsigned>::max());
  if (!host.cpu_quota) return std::numeric_limits<unsigned>::max();
  double const workers = std::ceil(*host.cpu_quota / std::max(options.cores_per_worker, 1U));
  return static_cast<unsigned>(std::clamp(workers, 1.0, most));
}

unsigned default_workers(RuntimeOptions const& options, HostTopology const& host) {
  if (auto const room = room_for_workers(options, host); room > 0)
    return std::min(room, workers_in_quota(options, host));
  auto const& cores = cores_of(options, host);
  auto const size = std::to_string(options.cores_per_worker);
  if (cores.size() < options.cores_per_worker) {
    throw InvalidArgument(
        "a worker of " + size + " cores does not fit the " + std::to_string(cores.size()) +
        " that this process may use: lower the number (--cores-per-worker, GRANARY_CORES_PER_WORKER)");
  }
  unsigned largest = options.cores_per_worker - 1;
  while (divide_cores(cores, host.domains, largest).empty()) --largest;
  throw InvalidArgument("a worker of " + size + " cores does not fit a NUMA domain, of which the largest has " +
                        std::to_string(largest) + " of the " + std::to_string(cores.size()) +
                        " that this process may use: lower the number (--cores-per-worker, GRANARY_CORES_PER_WORKER), "
                        "or do not bind workers (GRANARY_BIND=0)");
}

HostPlan plan_host(RuntimeOptions const& options, HostTopology const& host) {
  HostPlan plan;
  if (options.bind_workers) plan.workers = groups_of(options, host);
  if (plan.workers.size() < *options.workers) plan.workers.clear();
  if (!plan.workers.empty()) plan.workers.resize(*options.workers);
  if (host.domains.size() < 2) return plan;
  std::vector<unsigned> used;
  for (auto const& worker : plan.workers) used.insert(used.end(), worker.cores.begin(), worker.cores.end());
  plan.memory_domains = domains_of(used.empty() ? cores_of(options, host) : used, host.domains);
  return plan;
}

int blas_threads_of(RuntimeOptions const& options, bool by_caller) {
  bool const emulated = parse_devices(options.devices).kind == DeviceNames::Kind::Emulated;
  bool const alone = *options.workers == 1 && !emulated;
  return by_caller || alone ? static_cast<int>(std::max(options.cores_per_worker, 1U)) : 1;
}

}  // namespace granary
