// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/access.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/core/model/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The finer graph that a task runs as (Hierarchical paper, Algorithm 1): its data are parts of the data of the parent
/// task, so that nothing is allocated or copied for it. A codelet's Expansion emits its tasks; a driver takes those
/// that are ready and tells what came of them. Passive and not thread-safe: no thread or clock inside.
class InnerGraph final : public Submitter {
 public:
  /// `accesses` are the parent's and must outlive the graph; `addresses` says where their data lie, and is empty where
  /// nothing is computed; `pitches` is as in KernelCall.
  explicit InnerGraph(AccessList const& accesses, std::span<std::byte* const> addresses = {},
                      std::span<Bytes const> pitches = {});

  // For the expansion.

  /// See KernelCall::pitch.
  [[nodiscard]] Bytes pitch(std::size_t access) const { return m_pitches.empty() ? 0 : m_pitches[access]; }
  /// The part of the parent's datum of that access that begins `offset` bytes from its start. The same offset in the
  /// same datum names the same part. Parts do not overlap: that is the expansion's affair. Throws InvalidArgument when
  /// the parent has no such access.
  DataId part(std::size_t access, std::size_t offset);
  CodeletId add_codelet(Codelet codelet) override;
  /// Throws InvalidArgument: an inner graph has no data of its own.
  DataId add_data(DataDescription description) override;
  /// Throws InvalidArgument.
  void release_data(DataId data) override;
  /// Throws InvalidArgument when a codelet or part is unknown, or a part is written whose datum the parent only reads.
  TaskId submit(TaskSubmission const& submission, Parameters parameters = {}) override;

  // For the driver, once everything was submitted.

  /// Tasks that were submitted.
  [[nodiscard]] std::uint64_t submitted() const { return m_graph.submitted(); }
  /// How many tasks `take` can return now.
  [[nodiscard]] std::size_t ready() const { return m_ready.size(); }
  /// The ready task of the highest priority, the first submitted among equals; null when there is none. It stays where
  /// it is until `done` or `failed` is told of it.
  [[nodiscard]] Task const* take();
  void done(TaskId task);
  /// The tasks that were not taken are cancelled.
  void failed(TaskId task, std::exception_ptr error);
  /// No task runs, and none will.
  [[nodiscard]] bool finished() const { return m_running == 0 && m_ready.empty(); }
  /// Of the first task, in the order of submission, that failed; null when none did.
  [[nodiscard]] std::exception_ptr const& error() const { return m_error; }

  // What does not change once everything was submitted.

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

}  // namespace granary

#pragma GCC visibility pop
