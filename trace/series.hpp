// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The tasks' operations per second, in `count` parts of the run of the same length, at least 1; a task's operations
/// are spread evenly over its time. Tasks that failed count nothing. O(tasks + what they span).
[[nodiscard]] std::vector<double> flops_per_second(Trace const& trace, std::size_t count);

/// Transfers overlap on links that carry several at once. Gives each, in the order of Trace::transfers, a row of its
/// link such that those of one row do not overlap; as few rows as there can be. O(n log n).
[[nodiscard]] std::vector<std::uint32_t> transfer_rows(Trace const& trace);

/// How many rows each link has, by link; `rows` are those of `transfer_rows`.
[[nodiscard]] std::vector<std::uint32_t> rows_of_links(Trace const& trace, std::vector<std::uint32_t> const& rows);

/// `host -> device 0`.
[[nodiscard]] std::string link_name(Machine const& machine, LinkId link);

}  // namespace granary

#pragma GCC visibility pop
