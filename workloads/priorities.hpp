// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace granary::workloads {

/// The expected time of a codelet's kernel of so many operations.
using ExpectedTime = std::function<Duration(detail::CodeletId codelet, double flops)>;

/// The bottom level of each recorded task in nanoseconds: the time from its start to the end of the graph on an
/// unbounded machine (DARTS, section 6.1). O(tasks + edges).
///
/// ```cpp
/// #include <granary/workloads.hpp>
/// granary::workloads::TiledLu const lu({.tiles = 10});
/// granary::GraphRecorder graph;
/// lu.submit(graph, {granary::NodeId(0)});
/// auto const time = [](auto, double flops) { return granary::from_seconds(flops / 1e10); };
/// auto const priorities = granary::workloads::bottom_levels(graph, time);
/// granary::GraphRecorder target;  // or a Simulator
/// granary::workloads::PrioritySubmitter with_priorities(target, priorities);
/// lu.submit(with_priorities, {granary::NodeId(0)});
/// assert(target.tasks()[0].priority == priorities[0]);
/// ```
[[nodiscard]] GRANARY_EXPORT std::vector<std::int64_t> bottom_levels(detail::GraphRecorder const& graph,
                                                                     ExpectedTime const& time);

/// The priorities of StarPU's Cholesky example for the tasks of a right-looking factorization of `tiles` x `tiles`
/// tiles, in the order of submission: 2N - 2k for POTRF, less m for TRSM, less m + n for updates, where k is the step,
/// m and n the tile's row and column.
[[nodiscard]] GRANARY_EXPORT std::vector<std::int64_t> starpu_cholesky_priorities(std::uint64_t tiles);

/// The priorities of granary::potrf, right-looking, in the order of submission: CholeskyPriorities with its default
/// times.
[[nodiscard]] GRANARY_EXPORT std::vector<std::int64_t> library_cholesky_priorities(std::uint64_t tiles);

/// Forwards everything; the n-th submitted task gets the n-th priority.
class GRANARY_EXPORT PrioritySubmitter final : public Submitter {
 public:
  /// Both must outlive this object; `priorities` has one per task.
  PrioritySubmitter(Submitter& target, std::vector<std::int64_t> const& priorities)
      : m_target(target), m_priorities(priorities) {}

  detail::CodeletId add_codelet(detail::Codelet codelet) override { return m_target.add_codelet(std::move(codelet)); }
  DataId add_data(detail::DataDescription description) override { return m_target.add_data(std::move(description)); }
  void release_data(DataId data) override { m_target.release_data(data); }
  void last_use(DataId data) override { m_target.last_use(data); }
  TaskId submit(TaskSubmission const& submission, detail::Parameters parameters) override {
    auto with_priority = submission;
    with_priority.priority = m_priorities.at(m_next++);
    return m_target.submit(with_priority, std::move(parameters));
  }

 private:
  Submitter& m_target;
  std::vector<std::int64_t> const& m_priorities;
  std::size_t m_next = 0;
};

}  // namespace granary::workloads
