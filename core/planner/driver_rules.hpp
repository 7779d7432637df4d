// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decisions that both drivers make in the same way, outside the planner.
#pragma once

#include <cstddef>
#include <cstdint>

namespace granary::detail {

/// True if a group has too few tasks, so that one that starts should be shared as an inner graph: some worker has none,
/// or would have none after its present one. `fewest`: the tasks of the worker that holds the fewest; `ahead`: tasks
/// that are committed to the group and not handed to a worker.
[[nodiscard]] constexpr bool tasks_are_scarce(std::size_t fewest, std::uint32_t ahead) {
  return fewest < (ahead > 0 ? 1U : 2U);
}

/// True if a worker skips its next task: it reads what the one before should have written. `follows`: see RunCommand.
[[nodiscard]] constexpr bool is_skipped(bool follows, bool failed_before) { return follows && failed_before; }

/// The inner task for a worker that has nothing else to do: of `preferred`, the worker's own run, if it has a ready
/// one, else of the first of `runs` (a range of pointers) that has one. Returns the run and the task, both null if
/// there is none.
template <class Run, class Runs>
auto take_inner_task(Run* preferred, Runs const& runs) {
  struct Taken {
    Run* run = nullptr;
    decltype(preferred->graph.take()) task = nullptr;
  };
  if (preferred != nullptr) {
    if (auto const* const task = preferred->graph.take()) return Taken{preferred, task};
  }
  for (auto const& run : runs) {
    if (auto const* const task = run->graph.take()) return Taken{&*run, task};
  }
  return Taken{};
}

}  // namespace granary::detail
