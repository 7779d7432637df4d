// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/eviction/furthest_committed.hpp>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace granary::detail {

DataId furthest_committed_use(SystemView const& view, NodeId node) {
  std::unordered_map<DataId, std::size_t> next_use;
  std::vector<DataId> data;  // in the order of discovery, so that the choice does not depend on hashing
  for (GroupId const group : view.topology().groups_on(node)) {
    std::size_t position = 0;
    for (TaskId const task : view.committed(group)) {
      for (auto const& access : view.task(task).accesses) {
        auto const [entry, first] = next_use.try_emplace(access.data, position);
        if (first) {
          data.push_back(access.data);
        } else {
          entry->second = std::min(entry->second, position);
        }
      }
      ++position;
    }
  }
  DataId furthest;
  std::size_t furthest_use = 0;
  for (DataId const candidate : data) {
    std::size_t const use = next_use[candidate];
    if ((furthest.valid() && use <= furthest_use) || !view.evictable(candidate, node)) continue;
    furthest = candidate;
    furthest_use = use;
  }
  return furthest;
}

}  // namespace granary::detail
