// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <vector>

namespace granary {

/// Records the submitted tasks. `close` submits them in the same order, with their bottom level as priority: the time,
/// in nanoseconds, from the task's start to the end of the recorded graph on an unbounded machine (DARTS, section 6.1).
/// `close` also releases the recorded graph; a scope that is destroyed without being closed submits nothing. `submit`
/// returns invalid ids, since only `close` assigns submission numbers.
class GRANARY_EXPORT BottomLevelScope final : public Submitter {
 public:
  BottomLevelScope(Submitter& target, Estimator const& estimator, WorkerKind kind = WorkerKind::Cpu)
      : m_target(target), m_estimator(estimator), m_kind(kind) {}

  CodeletId add_codelet(Codelet codelet) override { return m_target.add_codelet(std::move(codelet)); }
  DataId add_data(DataDescription description) override { return m_target.add_data(std::move(description)); }
  /// Throws InvalidArgument when a recorded task uses the datum: close the scope first.
  void release_data(DataId data) override;
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override;
  /// O(tasks + edges).
  void close();

 private:
  struct Recorded {
    CodeletId codelet;
    double flops;
    std::size_t first_access;
    std::size_t accesses;
    SourceLine source_line;
    Parameters parameters;
  };

  [[nodiscard]] std::vector<std::int64_t> bottom_levels() const;
  [[nodiscard]] std::span<Access const> accesses_of(Recorded const& task) const {
    return std::span(m_accesses).subspan(task.first_access, task.accesses);
  }

  Submitter& m_target;
  Estimator const& m_estimator;
  WorkerKind m_kind;
  std::vector<Recorded> m_tasks;
  std::vector<Access> m_accesses;
};

}  // namespace granary
