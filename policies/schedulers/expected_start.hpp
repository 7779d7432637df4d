// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/policy/system_view.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// When a group could start one more task: what is left of the running ones, then the committed and the queued ones in
/// turn on whichever worker is free first. The scheduler that owns it passes `issued` and `finished` on.
class ExpectedStart {
 public:
  void attach(SystemView const& view);
  void issued(TaskId task);
  void finished(TaskId task);

  /// Counted from now; `queued` tasks that take `work` together stand before it and are not committed yet. Queued tasks
  /// are taken to be equally long. O(committed tasks + workers · log workers).
  [[nodiscard]] Duration operator()(GroupId group, Duration work, std::size_t queued) const;

 private:
  struct Lane {
    Instant since{};           // when the first of the tasks that it holds started
    std::uint32_t held = 0;    // tasks that were issued to it
    std::uint32_t number = 0;  // among the workers of its group
  };
  SystemView const* m_view = nullptr;
  std::vector<Lane> m_lanes;  // by worker
  mutable std::vector<Duration::rep> m_scratch;
};

/// When the first of the lanes is free, which are busy until the given instants, once `count` tasks of together `work`
/// were started on them in turn, all equally long. Changes `busy_until`, which is not empty.
[[nodiscard]] Duration::rep first_free(std::vector<Duration::rep>& busy_until, Duration::rep work, std::size_t count);

}  // namespace granary

#pragma GCC visibility pop
