// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>
#include <vector>

namespace granary::bench {

/// A Cholesky factorization on a cluster.
struct ClusterCase {
  std::uint32_t processes = 4;
  std::uint32_t workers = 1;  ///< of each process
  std::uint64_t tiles = 32;   ///< per row of the matrix
  std::uint64_t tile = 960;
  detail::Network network{};
  double flops_per_second = 50e9;  ///< of a worker
};

/// The event after which a process asks for a value.
struct Cause {
  enum class Kind : std::uint8_t {
    Start,      ///< nothing, or something that is not replayed
    TaskEnded,  ///< a task of the reader
    Announced,  ///< another value was announced to the reader, or this one
    Arrived,    ///< another value arrived there
  };
  Kind kind = Kind::Start;
  std::uint32_t number = 0;  ///< of the task or the value
};

struct RecordedTask {
  Duration duration{0};
  std::uint32_t rank = 0;               ///< in the order in which the process hands tasks to its workers
  std::vector<std::uint32_t> after{};   ///< tasks of the same process
  std::vector<std::uint32_t> values{};  ///< of other processes that it reads
};

/// A value that one process sends to another.
struct RecordedValue {
  static constexpr std::uint32_t nobody = 0xffffffffU;

  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Bytes bytes = 0;
  std::uint32_t writer = nobody;  ///< the task
  Cause asked{};
};

/// The run of a cluster simulator, without its times of transfers.
struct RecordedRun {
  std::uint32_t processes = 0;
  std::uint32_t workers = 0;
  std::vector<RecordedTask> tasks;
  std::vector<RecordedValue> values;
  std::vector<std::vector<std::uint32_t>> task_order;   ///< by process times `workers`, plus worker
  std::vector<std::vector<std::uint32_t>> value_order;  ///< by sender: as the transfers start
  std::uint64_t asked_after_others = 0;                 ///< values whose Cause is an event that is not replayed
  double makespan = 0;                                  ///< seconds until the last task has ended
  double busy = 0;                                      ///< part of that time in which a worker is busy, on average

  [[nodiscard]] double bytes_sent() const;
};

/// Runs the case on ClusterSimulator. Throws InternalError if a value is sent twice.
[[nodiscard]] RecordedRun record(ClusterCase const& problem);

/// The values that a process of ClusterSimulator sends at once.
inline constexpr std::uint32_t sends_at_once = 16;

}  // namespace granary::bench
