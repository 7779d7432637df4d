// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/trace/text_file.hpp>

namespace granary {

/// Writes trace events in JSON for Perfetto and Chrome's tracing ("Trace Event Format"): one track per worker, per link
/// (several if its transfers overlap) and per node's evictions; counters for each node's bytes in use, for booked bytes
/// and their limit, for the flop rate and, with several processes, for the busy workers of each. Times are in
/// microseconds with three decimals.
GRANARY_EXPORT void write_chrome_json(Trace const& trace, TextFile& file);

}  // namespace granary
