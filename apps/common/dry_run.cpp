// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/dry_run.hpp"

#include <granary/outofcore/storage.hpp>

#include <algorithm>

namespace granary::app {

DataId DryRun::add_data(DataDescription description) {
  m_bytes.push_back(description.in_place ? 0 : round_up(description.bytes, io_alignment));
  return DataId(static_cast<std::uint32_t>(m_bytes.size() - 1));
}

TaskId DryRun::submit(TaskSubmission const& submission, Parameters) {
  auto const& accesses = submission.accesses;
  Bytes needed = 0;
  for (auto access = accesses.begin(); access != accesses.end(); ++access) {
    bool const first = std::none_of(accesses.begin(), access, [&](auto const& a) { return a.data == access->data; });
    if (first) needed += m_bytes.at(access->data.index());
  }
  m_least_memory = std::max(m_least_memory, needed);
  m_flops += submission.flops;
  return TaskId(static_cast<std::uint32_t>(m_tasks++));
}

}  // namespace granary::app
