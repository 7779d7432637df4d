// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace granary::detail {

/// The mean seconds of a bucket's tasks by kind of worker; 0: that kind cannot run them.
using KindTimes = std::array<double, worker_kinds>;

/// Buckets in the order in which a kind of worker visits them; buckets of one level have equal priority.
using BucketLevels = std::vector<std::vector<std::uint32_t>>;

/// The user's order of some buckets, by names of codelets.
using NamedLevels = std::vector<std::vector<std::string>>;

/// The speed of a device relative to a CPU core; infinite if only devices run the tasks, 0 if only CPU cores do
/// (Static, section VI).
[[nodiscard]] GRANARY_EXPORT double acceleration(KindTimes const& times);

/// Devices visit the highest acceleration first, CPU cores the lowest; buckets that a kind cannot run are omitted. A
/// bucket joins the previous level if its acceleration is within the factor `merge` of that level's first.
[[nodiscard]] GRANARY_EXPORT BucketLevels levels_by_acceleration(std::span<KindTimes const> times, WorkerKind kind,
                                                                 double merge);

/// The given buckets first, in the given order; the others follow in the order of `otherwise`.
[[nodiscard]] GRANARY_EXPORT BucketLevels stated_levels(NamedLevels const& stated, std::span<std::string const> names,
                                                        BucketLevels const& otherwise);

/// The kind of worker that runs a bucket's tasks fastest, and its speed relative to the other; factor 0: neither runs
/// them.
struct GRANARY_EXPORT SpeedUp {
  WorkerKind best = WorkerKind::Cpu;
  double factor = 0;
};

/// From mean times: the slower kind's over the faster one's.
[[nodiscard]] GRANARY_EXPORT SpeedUp speed_up(KindTimes const& times);

/// True if a worker of the slow kind may take one of `available` tasks: at least N_fast S must be there. (LAHeteroprio,
/// "Speedup factors", says "more than", but its example allows six of 3 x 2.)
[[nodiscard]] constexpr bool slow_may_take(std::size_t available, std::size_t fast_workers, double factor) {
  return static_cast<double>(available) >= static_cast<double>(fast_workers) * factor - 1e-9;
}

}  // namespace granary::detail
