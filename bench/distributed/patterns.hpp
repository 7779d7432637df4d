// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/machine.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "recorded_run.hpp"

namespace granary::bench {

/// Values that all processes begin to send at once, without tasks.
struct Pattern {
  std::string name;
  RecordedRun run;
};

[[nodiscard]] std::vector<Pattern> patterns(std::uint32_t processes, Bytes bytes, std::uint64_t seed);

/// Seconds until the last value has arrived, on NetworkModel.
[[nodiscard]] double model_time(RecordedRun const& run, detail::Network const& network);

}  // namespace granary::bench
