// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/engine/statistics.hpp>
#include <granary/core/runtime/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// What surrounds a runtime, as far as it may not fit the options.
struct Surroundings {
  std::size_t cores = 0;        ///< that the process may run on
  Bytes memory = 0;             ///< that it may use
  unsigned openmp_threads = 0;  ///< OMP_NUM_THREADS; 0: it says nothing
  bool blas_is_held = true;     ///< granary can hold this BLAS to one thread
};

[[nodiscard]] Surroundings find_surroundings();

/// What a runtime with these options, complete ones, is better not made with in these surroundings: a sentence each,
/// with what to do about it.
[[nodiscard]] std::vector<std::string> find_doubts(RuntimeOptions const& options, Surroundings const& around);

/// What is to be said of a run that has ended: that the scheduler ignored the priorities of its tasks, that none of
/// them fitted a device, and that BLAS had that many threads.
[[nodiscard]] std::vector<std::string> find_doubts(RuntimeOptions const& options, EngineStatistics const& run,
                                                   int blas_threads);

/// Writes a warning to the log, each text once per process; whether it did. May be called from any thread.
bool warn_once(std::string const& text);

}  // namespace granary

#pragma GCC visibility pop
