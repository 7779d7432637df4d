// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/auto/candidates.hpp>
#include <granary/detail/auto/trial_tasks.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace granary::detail {

/// One simulation of a TrialRuns, which must outlive it.
class GRANARY_EXPORT TrialRun {
 public:
  ~TrialRun();
  TrialRun(TrialRun const&) = delete;
  TrialRun& operator=(TrialRun const&) = delete;

  /// Goes on until so many tasks have ended; after the last one, until all values are at their homes. False if that
  /// cannot be, or if it is no more `wanted`, which is asked every few tasks.
  [[nodiscard]] bool advance(
      std::uint64_t tasks, std::function<bool()> const& wanted = [] { return true; });
  /// The believed time of all tasks. While some have not ended, the work that is left is taken to be done as fast as
  /// that up to now, but not faster than the longest chain of these tasks.
  [[nodiscard]] double seconds() const;
  /// When the first task had ended, the first two, …
  [[nodiscard]] std::vector<Duration> const& ends() const;
  /// The bytes that the links have carried.
  [[nodiscard]] Bytes bytes_moved() const;
  /// The resource that was nearly always busy: "the workers", "the links" or "the disk"; "the order" of tasks if none.
  [[nodiscard]] std::string limit() const;

 private:
  friend class TrialRuns;
  struct Implementation;
  explicit TrialRun(std::unique_ptr<Implementation> parts);
  std::unique_ptr<Implementation> m_implementation;
};

/// Simulates the tasks under any policies. Devices start one task after the other, and large tasks are not run as finer
/// graphs.
class GRANARY_EXPORT TrialRuns {
 public:
  /// O(accesses).
  explicit TrialRuns(TrialTasks tasks);
  ~TrialRuns();
  TrialRuns(TrialRuns const&) = delete;
  TrialRuns& operator=(TrialRuns const&) = delete;

  [[nodiscard]] std::uint64_t tasks() const;
  /// True if all data together fit in each memory of a device with workers, or of the host if there is none.
  [[nodiscard]] bool fits() const;
  /// The sum of the times of all tasks, each on its fastest kind of worker.
  [[nodiscard]] double work_seconds() const;
  /// A run under these policies, which are told of the first `told` tasks. Null if they cannot run them.
  [[nodiscard]] std::unique_ptr<TrialRun> start(Candidate const& policies, std::uint64_t seed,
                                                std::uint64_t told) const;

 private:
  friend class TrialRun;
  class Times;
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace granary::detail
