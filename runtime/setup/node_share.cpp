// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/runtime/setup/node_share.hpp>

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace granary {

using namespace detail;

namespace {

// The `number`-th of `count` consecutive parts; one element if there are fewer than parts.
std::vector<unsigned> part_of(std::vector<unsigned> const& all, unsigned number, unsigned count) {
  auto const size = all.size();
  if (size == 0) return {};
  if (size < count) return {all[number % size]};
  auto const first = size * number / count, last = size * (number + 1) / count;
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace

RuntimeOptions share_node(RuntimeOptions options, NodeShare const& share, NodeResources const& resources,
                          bool (*environment)(std::string const&)) {
  if (options.cores.empty()) options.cores = part_of(resources.cores, share.number_on_cores, share.count_on_cores);
  if (options.host_memory == 0 && !environment("GRANARY_MEMORY"))
    options.host_memory = resources.memory / 2 / share.count;
  if (!options.devices.empty() || environment("GRANARY_DEVICES") || resources.devices == 0) return options;
  if (resources.devices < share.count) {
    auto const device = share.number % resources.devices;
    auto const users = (share.count - device + resources.devices - 1) / resources.devices;
    options.devices = std::to_string(device);
    if (options.device_memory == 0 && !environment("GRANARY_DEVICE_MEMORY"))
      options.device_memory = resources.device_memory / 5 * 4 / users;
    return options;
  }
  for (auto d = share.number; d < resources.devices; d += share.count) {
    options.devices += (options.devices.empty() ? "" : ",") + std::to_string(d);
  }
  return options;
}

NodeResources find_node_resources() {
  auto host = discover_host();
  NodeResources resources{
      .cores = std::move(host.cores), .all_cores = discover_topology().cores, .memory = host.memory};
  if (auto const api = make_vendor_api(); api && api->devices() > 0) {
    resources.devices = static_cast<unsigned>(api->devices());
    resources.device_memory = unbounded;
    for (int d = 0; d < api->devices(); ++d)
      resources.device_memory = std::min(resources.device_memory, api->properties(d).free);
  }
  return resources;
}

std::optional<std::string> find_narrow_binding(NodeShare const& share, NodeResources const& resources) {
  auto const ours = std::max<std::size_t>(resources.cores.size() / share.count_on_cores, 1);
  auto const due = resources.all_cores / share.count;
  if (ours >= due) return std::nullopt;
  return fmt::format(
      "each of the {} processes on this node has {} of its {} cores, where {} are its share: MPI's launcher binds "
      "processes (mpirun --bind-to none, srun --cpus-per-task)",
      share.count, ours, resources.all_cores, due);
}

}  // namespace granary
