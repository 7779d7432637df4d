// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/static/predecessors.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {

void Predecessors::submitted(TaskId task, AccessList const& accesses) {
  std::vector<TaskId> before;
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    if (access.data.index() >= m_uses.size()) m_uses.resize(access.data.index() + 1);
    auto& uses = m_uses[access.data.index()];
    if (uses.writer.valid() && live(uses.writer)) before.push_back(uses.writer);
    if (!writes(access.mode)) {
      if (uses.readers.size() >= 16) std::erase_if(uses.readers, [&](TaskId reader) { return !live(reader); });
      uses.readers.push_back(task);
      continue;
    }
    std::ranges::copy_if(uses.readers, std::back_inserter(before), [&](TaskId reader) { return live(reader); });
    uses.readers.clear();
    uses.writer = task;
  }
  m_before.insert(task, std::move(before));
}

}  // namespace granary::detail
