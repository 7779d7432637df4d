// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace granary::detail {

/// A submitter that only records what is submitted. Use it for properties of a whole graph, such as bounds, the
/// critical path or bottom levels. Ids count registrations and submissions from 0. Parameters are dropped; released
/// data stay in the record.
class GRANARY_EXPORT GraphRecorder final : public Submitter {
 public:
  struct RecordedTask {
    CodeletId codelet;
    std::int64_t priority;
    double flops;
    std::size_t first_access;
    std::size_t accesses;
  };

  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override;
  void release_data(DataId) override {}
  /// Throws InvalidArgument when a datum or the codelet is unknown.
  TaskId submit(TaskSubmission const& submission, Parameters parameters = {}) override;

  [[nodiscard]] std::vector<Codelet> const& codelets() const { return m_codelets; }
  [[nodiscard]] std::vector<DataDescription> const& data() const { return m_data; }
  [[nodiscard]] std::vector<RecordedTask> const& tasks() const { return m_tasks; }
  [[nodiscard]] std::span<Access const> accesses_of(RecordedTask const& task) const {
    return std::span(m_accesses).subspan(task.first_access, task.accesses);
  }

 private:
  std::vector<Codelet> m_codelets;
  std::vector<DataDescription> m_data;
  std::vector<RecordedTask> m_tasks;
  std::vector<Access> m_accesses;
};

}  // namespace granary::detail
