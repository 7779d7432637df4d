// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/dispatch/result_bounds.hpp>

#include <algorithm>

namespace granary::detail {

bool ResultBounds::varies(Task const& task) const {
  auto const& data = m_movement.data();
  return std::ranges::any_of(task.accesses, [&](Access const& access) { return data[access.data].varies; });
}

Bytes ResultBounds::bytes_read(Task const& task) const {
  if (task.accesses.size() == 0 || writes(task.accesses[0].mode)) return 0;
  return m_movement.data()[task.accesses[0].data].bytes;
}

// Foreign code runs in the middle of an event here: it must not end the event.
bool ResultBounds::expect(LiveTask& task) {
  if (!task.varies) return true;
  auto const& data = m_movement.data();
  auto const bytes_of = m_context.codelets[task.codelet.index()].result_bytes;
  void const* const parameters = bytes_of != nullptr && m_parameters ? m_parameters(task.id) : nullptr;
  m_bytes.clear();
  for (auto const& access : task.accesses) m_bytes.push_back(data[access.data].bytes);
  try {
    for (std::size_t i = 0; i < task.accesses.size(); ++i) {
      auto const& access = task.accesses[i];
      if (access.repeated || !writes(access.mode) || !data[access.data].varies) continue;
      Bytes const bound = data[access.data].bound;
      m_movement.results().expect(access.data,
                                  parameters != nullptr ? std::min(bound, bytes_of(parameters, m_bytes, i)) : bound);
    }
  } catch (...) {
    m_errors.emplace(task.id, std::current_exception());
    task.cancelled = true;
    m_context.agenda.post(Agenda::Cancel{task.id});
    return false;
  }
  return true;
}

std::exception_ptr ResultBounds::take_error(TaskId task) {
  auto const found = m_errors.extract(task);
  return found.empty() ? nullptr : found.mapped();
}

}  // namespace granary::detail
