// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/core/model/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

/// The finer graph that replaces a task (Hierarchical paper, Algorithm 1). Its data are parts of the parent task's
/// data, so nothing is allocated or copied. A codelet's Expansion emits its tasks; a driver takes the ready ones and
/// reports their outcome. Passive and not thread-safe: no thread or clock inside.
class GRANARY_EXPORT InnerGraph final : public Submitter {
 public:
  /// `accesses` are the parent's and must outlive the graph. `addresses` are the addresses of their data, empty if
  /// nothing is computed; `pitches` is as in KernelCall.
  explicit InnerGraph(AccessList const& accesses, std::span<std::byte* const> addresses = {},
                      std::span<Bytes const> pitches = {});

  // For the expansion.

  /// See KernelCall::pitch.
  [[nodiscard]] Bytes pitch(std::size_t access) const { return m_pitches.empty() ? 0 : m_pitches[access]; }
  /// The part of that access's datum that begins at byte `offset`. The same offset in the same datum names the same
  /// part. The expansion must ensure that parts do not overlap. Throws InvalidArgument when the parent has no such
  /// access.
  DataId part(std::size_t access, std::size_t offset);
  CodeletId add_codelet(Codelet codelet) override;
  /// Throws InvalidArgument: an inner graph has no data of its own.
  DataId add_data(DataDescription description) override;
  /// Throws InvalidArgument.
  void release_data(DataId data) override;
  /// Accesses that commute do not here: they are in the order of submission. Throws InvalidArgument when a codelet or
  /// part is unknown, or a part is written whose datum the parent only reads.
  TaskId submit(TaskSubmission const& submission, Parameters parameters = {}) override;

  // For the driver, after all tasks were submitted.

  /// The number of submitted tasks.
  [[nodiscard]] std::uint64_t submitted() const { return m_graph.submitted(); }
  /// The number of tasks that `take` can return now.
  [[nodiscard]] std::size_t ready() const { return m_ready.size(); }
  /// The ready task of the highest priority, the first submitted among equals; null when there is none. The pointer is
  /// valid until `done` or `failed` was called for the task.
  [[nodiscard]] Task const* take();
  void done(TaskId task);
  /// Cancels the tasks that were not taken.
  void failed(TaskId task, std::exception_ptr error);
  /// No task is running, and no task is left to run.
  [[nodiscard]] bool finished() const { return m_running == 0 && m_ready.empty(); }
  /// The error of the first failed task in the order of submission; null when none failed.
  [[nodiscard]] std::exception_ptr const& error() const { return m_error; }

  // Constant after all tasks were submitted.

  [[nodiscard]] Codelet const& codelet(Task const& task) const { return m_codelets[task.codelet.index()]; }
  [[nodiscard]] Parameters const& parameters(TaskId task) const { return m_parameters[task.index()]; }
  [[nodiscard]] std::byte* address(DataId data) const {
    return m_addresses[m_parts[data.index()].first] + m_parts[data.index()].second;
  }

 private:
  using Part = std::pair<std::size_t, std::size_t>;  // access, offset

  void make_ready(Task const& task);

  AccessList const& m_accesses;
  std::span<std::byte* const> m_addresses;
  std::span<Bytes const> m_pitches;
  std::map<Part, DataId> m_ids;
  std::vector<Part> m_parts;  // by datum
  std::vector<Codelet> m_codelets;
  std::vector<Parameters> m_parameters;  // by task
  TaskGraph m_graph;
  std::vector<std::pair<std::int64_t, TaskId>> m_ready;  // a heap
  std::uint32_t m_running = 0;
  TaskId m_first_failed;
  std::exception_ptr m_error;
};

}  // namespace granary::detail
