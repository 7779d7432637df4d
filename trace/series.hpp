// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace granary {

/// The flop rate in `count` equal intervals of the run, at least 1. A task's operations are spread evenly over its
/// time; failed tasks do not count. O(tasks + the intervals that they span).
[[nodiscard]] GRANARY_EXPORT std::vector<double> flops_per_second(Trace const& trace, std::size_t count);

/// By process: the mean number of its workers that ran tasks, in `count` equal intervals of the run, at least 1.
/// O(tasks + the intervals that they span).
[[nodiscard]] GRANARY_EXPORT std::vector<std::vector<double>> busy_workers(Trace const& trace, std::size_t count);

/// The number of intervals in which a file shows the load of each process: 2000, but no more than there are tasks, and
/// about 40,000 for all processes together.
[[nodiscard]] GRANARY_EXPORT std::size_t intervals_of_loads(Trace const& trace);

/// Assigns each transfer, in the order of Trace::transfers, to a row of its link such that transfers in one row do not
/// overlap. The number of rows is minimal. O(n (log n + rows of a link)).
[[nodiscard]] GRANARY_EXPORT std::vector<std::uint32_t> transfer_rows(Trace const& trace);

/// The number of rows of each link; `rows` is the result of `transfer_rows`.
[[nodiscard]] GRANARY_EXPORT std::vector<std::uint32_t> rows_of_links(Trace const& trace,
                                                                      std::vector<std::uint32_t> const& rows);

/// `host -> device 0`; `3: host -> device 0` of process 3, if there are several.
[[nodiscard]] GRANARY_EXPORT std::string link_name(Trace const& trace, detail::LinkId link);

}  // namespace granary
