// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/dry_run.hpp"

#include <granary/detail/outofcore/storage.hpp>
#include <granary/detail/runtime/setup/devices.hpp>

#include <algorithm>
#include <utility>

namespace granary::app {

using namespace detail;

void MemoryNeed::cover(MemoryNeed const& other) {
  host = std::max(host, other.host);
  device = std::max(device, other.device);
  datum = std::max(datum, other.datum);
}

CodeletId DryRun::add_codelet(Codelet codelet) {
  if (m_graph != nullptr) m_graph->add_codelet(std::move(codelet));
  return CodeletId(m_codelets++);
}

DataId DryRun::add_data(DataDescription description) {
  m_data.push_back({.host = description.in_place ? 0 : round_up(description.bytes, io_alignment),
                    .device = round_up(description.bytes, device_alignment)});
  m_need.datum = std::max(m_need.datum, m_data.back().host);
  if (m_graph != nullptr) m_graph->add_data(std::move(description));
  return DataId(static_cast<std::uint32_t>(m_data.size() - 1));
}

TaskId DryRun::submit(TaskSubmission const& submission, Parameters) {
  auto const& accesses = submission.accesses;
  MemoryNeed needed;
  for (auto access = accesses.begin(); access != accesses.end(); ++access) {
    bool const first = std::none_of(accesses.begin(), access, [&](auto const& a) { return a.data == access->data; });
    if (!first) continue;
    needed.host += m_data.at(access->data.index()).host;
    needed.device += m_data.at(access->data.index()).device;
  }
  m_need.cover(needed);
  if (m_graph != nullptr) m_graph->submit(submission);
  return TaskId(m_tasks++);
}

}  // namespace granary::app
