// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/system_view.hpp>

#include <cstdint>
#include <vector>

namespace granary::detail {

/// The time at which a group could start one more task: after the rest of the running tasks, then the committed and
/// queued tasks in turn, each on the first free worker. The scheduler that owns it forwards `issued` and `finished`.
class GRANARY_EXPORT ExpectedStart {
 public:
  void attach(SystemView const& view);
  void issued(TaskId task);
  void finished(TaskId task);

  /// When the worker's oldest task started; meaningless if it holds none.
  [[nodiscard]] Instant since(WorkerId worker) const { return m_lanes[worker.index()].since; }
  /// The time from now; `queued` tasks of together `work` precede it and are not committed yet. Queued tasks are
  /// assumed to be equally long. O(committed tasks + workers · log workers).
  [[nodiscard]] Duration operator()(GroupId group, Duration work, std::size_t queued) const;

 private:
  struct Lane {
    Instant since{};           // when its oldest task started
    std::uint32_t held = 0;    // tasks that were issued to it
    std::uint32_t number = 0;  // among the workers of its group
  };
  SystemView const* m_view = nullptr;
  std::vector<Lane> m_lanes;  // by worker
  mutable std::vector<Duration::rep> m_scratch;
};

/// When the first lane is free after `count` equally long tasks of together `work` were started in turn; the lanes are
/// busy until the given instants. Changes `busy_until`, which is not empty.
[[nodiscard]] GRANARY_EXPORT Duration::rep first_free(std::vector<Duration::rep>& busy_until, Duration::rep work,
                                                      std::size_t count);

}  // namespace granary::detail
