// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace granary {

/// The environment of a runtime, to be compared with its options.
struct GRANARY_EXPORT Environment {
  std::size_t cores = 0;                                     ///< cores that the process may run on
  std::size_t room = 0;                                      ///< workers for which it has cores
  Bytes memory = 0;                                          ///< memory that it may use
  unsigned openmp_threads = 0;                               ///< OMP_NUM_THREADS; 0: not set
  bool blas_is_held = true;                                  ///< granary can limit this BLAS to one thread
  std::optional<double> cpu_quota = {};                      ///< HostTopology::cpu_quota
  unsigned in_quota = std::numeric_limits<unsigned>::max();  ///< workers that it keeps busy
};

[[nodiscard]] GRANARY_EXPORT Environment find_environment(RuntimeOptions const& options);

/// Warnings about complete options in this environment, one sentence each, with the remedy.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> find_warnings(RuntimeOptions const& options,
                                                                    Environment const& around);

/// Warnings about a run that has ended: the scheduler ignored the priorities of its tasks, none of them fitted a
/// device, too much memory stayed booked, or BLAS used more than one thread.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> find_warnings(RuntimeOptions const& options,
                                                                    detail::EngineStatistics const& run,
                                                                    int blas_threads);

/// Logs a warning, each text once per process; returns whether it did. May be called from any thread.
GRANARY_EXPORT bool warn_once(std::string const& text);

}  // namespace granary
