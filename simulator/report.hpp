// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/failure.hpp>
#include <granary/detail/core/planner/statistics.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace granary {

namespace detail {

/// Transfers by the kinds of nodes that they connect. A write-back moves a value to its home: to the host or to a disk.
enum class GRANARY_EXPORT TransferKind : std::uint8_t {
  HostToDevice,
  DeviceToDevice,
  DeviceToHost,
  HostToHost,
  DiskRead,
  DiskWrite,
  Received  ///< from another process
};

}  // namespace detail

inline constexpr std::size_t transfer_kinds = 7;

[[nodiscard]] GRANARY_EXPORT detail::TransferKind transfer_kind(detail::Machine const& machine,
                                                                detail::Link const& link);

/// The results of a simulated run, since the simulator was created.
struct GRANARY_EXPORT SimulationReport {
  struct WorkerReport {
    Duration busy{0};
    Duration idle{0};  ///< the rest, up to `end`
    std::uint64_t tasks = 0;
    std::uint64_t inner_tasks = 0;  ///< of inner graphs, of its own tasks and of others'
  };
  detail::Instant end{};  ///< virtual time at the end of the run
  std::vector<WorkerReport> workers;
  std::array<detail::LinkStatistics, transfer_kinds> traffic{};  ///< by TransferKind
  std::uint64_t evictions = 0;                                   ///< of all nodes
  /// Copies of a value to a node that held this value before: a larger memory would avoid them.
  std::uint64_t reloads = 0;
  Bytes reload_bytes = 0;
  Duration decision_time{0};              ///< charged: see SimulatorOptions::charge_decisions
  Duration submission_slept{0};           ///< virtual time: see SimulatorOptions::booking
  detail::Statistics statistics;          ///< tasks, bytes by link, memory by node
  std::vector<detail::Failure> failures;  ///< of this run, in the order of submission; cleared for the next run

  [[nodiscard]] detail::LinkStatistics const& of(detail::TransferKind kind) const {
    return traffic[static_cast<std::size_t>(kind)];
  }
  /// Bytes of all transfers.
  [[nodiscard]] Bytes bytes() const;
};

}  // namespace granary
