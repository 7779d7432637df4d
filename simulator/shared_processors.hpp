// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>

#include <optional>
#include <vector>

namespace granary::detail {

/// The progress, in virtual time, of tasks whose workers share a processor: GroundTruth::processor_share. A task runs
/// at full speed while the shares of all tasks on its processor add up to at most 1; otherwise each is slowed down by
/// the sum. So small kernels run beside each other, and a processor is never faster than with the largest kernels.
///
/// Drive it by `advance(*next_end())`. Each call costs O(tasks that run).
///
/// ```cpp
/// using namespace std::chrono_literals;
/// granary::detail::SharedProcessors gpu;  // two streams, with kernels that fill three quarters of it
/// gpu.start(granary::detail::WorkerId(0), granary::NodeId(1), 0.75, 3ms, granary::detail::Instant{});
/// gpu.start(granary::detail::WorkerId(1), granary::NodeId(1), 0.75, 3ms, granary::detail::Instant{});
/// assert(*gpu.next_end() - granary::detail::Instant{} == 4500us);
/// assert(gpu.advance(*gpu.next_end()).size() == 2);
/// ```
class GRANARY_EXPORT SharedProcessors {
 public:
  struct Ended {
    WorkerId worker;
    Instant start;
  };

  /// Starts a task that takes `alone` if nothing else runs on the processor of this node. The share is in (0, 1]; `now`
  /// must not be before an earlier call's instant, nor after `next_end()`.
  void start(WorkerId worker, NodeId node, double share, Duration alone, Instant now);
  /// The worker's task, if it has one, is stopped.
  void stop(WorkerId worker, Instant now);
  /// The time of the next end if nothing starts before; empty when nothing runs.
  [[nodiscard]] std::optional<Instant> next_end() const {
    return m_running.empty() ? std::nullopt : std::optional(m_next);
  }
  /// Advances to `now`, at most `next_end()`. Returns what ends there, in the order of the starts; valid until the next
  /// call.
  std::vector<Ended> const& advance(Instant now);

 private:
  struct Running {
    WorkerId worker;
    NodeId node;
    double share;
    double left;  // nanoseconds at full speed, at m_now
    Instant start;
  };

  void progress(Instant now);
  void find_next();
  [[nodiscard]] double slowdown(NodeId node) const;

  std::vector<Running> m_running;  // in the order of their starts
  std::vector<double> m_load;      // by node: the sum of the shares
  std::vector<Ended> m_ended;
  Instant m_now{};
  Instant m_next{};
};

}  // namespace granary::detail
