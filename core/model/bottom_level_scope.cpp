// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/bottom_level_scope.hpp>
#include <granary/detail/core/model/bottom_levels.hpp>

#include <algorithm>

namespace granary {

void BottomLevelScope::release_data(DataId data) {
  if (std::ranges::any_of(m_accesses, [&](Access const& access) { return access.data == data; })) {
    throw InvalidArgument("a datum is released while a recorded task uses it; close the recording scope first");
  }
  m_target.release_data(data);
}

TaskId BottomLevelScope::submit(TaskSubmission const& submission, Parameters parameters) {
  m_tasks.push_back({submission.codelet, submission.flops, m_accesses.size(), submission.accesses.size(),
                     submission.source_line, std::move(parameters)});
  m_accesses.insert(m_accesses.end(), submission.accesses.begin(), submission.accesses.end());
  return {};
}

void BottomLevelScope::close() {
  auto const levels = bottom_levels();
  for (std::size_t i = 0; i < m_tasks.size(); ++i) {
    auto& task = m_tasks[i];
    m_target.submit({.codelet = task.codelet,
                     .accesses = accesses_of(task),
                     .priority = levels[i],
                     .flops = task.flops,
                     .source_line = task.source_line},
                    std::move(task.parameters));
  }
  std::vector<Recorded>().swap(m_tasks);
  std::vector<Access>().swap(m_accesses);
}

std::vector<std::int64_t> BottomLevelScope::bottom_levels() const {
  TaskGraph graph;
  for (auto const& task : m_tasks) graph.add(AccessList(accesses_of(task)));
  return granary::bottom_levels(
      graph, [&](std::size_t i) { return m_estimator.kernel_time(m_tasks[i].codelet, m_tasks[i].flops, m_kind); });
}

}  // namespace granary
