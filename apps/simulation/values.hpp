// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace granary::app {

/// The memory of each device: a size, or a fraction of the working set that the devices share; neither: the platform's.
struct Memory {
  std::optional<Bytes> size;
  std::optional<double> fraction;
};

/// From `seconds` on, the worker's kernels take `factor` times as long.
struct SlowWorker {
  std::string name;
  double factor = 1;
  double seconds = 0;
};

/// The members of a list `a,b,c`. Throws InvalidArgument with `what` if one is empty.
[[nodiscard]] std::vector<std::string> parse_names(std::string_view text, std::string_view what);
/// `8`, `8,16`, `8:32:4` (both ends included, if the steps hit the last) or a list of these; each in [least, most].
/// Throws InvalidArgument with `what` and the text.
[[nodiscard]] std::vector<std::uint64_t> parse_counts(std::string_view text, std::string_view what, std::uint64_t least,
                                                      std::uint64_t most);
/// Likewise for memory: sizes have a unit (512MiB), fractions of the working set have none (0.25); a range has one
/// kind.
[[nodiscard]] std::vector<Memory> parse_memory(std::string_view text);
/// `none`, `measured` or a time such as 500ns, 1.5us, 2ms, 0.1s.
[[nodiscard]] detail::DecisionCost parse_decision_cost(std::string_view text);
/// `BANDWIDTH` or `BANDWIDTH:LATENCY`, such as 5GB/s:2us; without a latency, the other's.
[[nodiscard]] detail::Network parse_network(std::string_view text, detail::Network const& other);
/// `NAME:FACTOR:SECONDS`; the name may have colons.
[[nodiscard]] SlowWorker parse_slow_worker(std::string_view text);

}  // namespace granary::app
