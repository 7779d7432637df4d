// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>

#include <string>
#include <utility>

namespace granary::detail {

CodeletId GraphRecorder::add_codelet(Codelet codelet) {
  m_codelets.push_back(std::move(codelet));
  return CodeletId(static_cast<std::uint32_t>(m_codelets.size() - 1));
}

DataId GraphRecorder::add_data(DataDescription description) {
  if (description.bytes == 0) throw InvalidArgument("data '" + description.name + "' has no bytes");
  m_data.push_back(std::move(description));
  return DataId(static_cast<std::uint32_t>(m_data.size() - 1));
}

TaskId GraphRecorder::submit(TaskSubmission const& submission, Parameters) {
  if (submission.codelet.index() >= m_codelets.size()) {
    throw InvalidArgument("a task names codelet " + std::to_string(submission.codelet.value()) +
                          ", which is not registered");
  }
  for (auto const& access : submission.accesses) {
    if (access.data.index() < m_data.size()) continue;
    throw InvalidArgument("task '" + m_codelets[submission.codelet.index()].name + "' accesses data " +
                          std::to_string(access.data.value()) + ", which is not registered");
  }
  m_tasks.push_back(
      {submission.codelet, submission.priority, submission.flops, m_accesses.size(), submission.accesses.size()});
  m_accesses.insert(m_accesses.end(), submission.accesses.begin(), submission.accesses.end());
  return TaskId(m_tasks.size() - 1);
}

}  // namespace granary::detail
