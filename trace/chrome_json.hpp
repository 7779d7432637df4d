// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>
#include <granary/trace/text_file.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// Trace events in JSON, as Perfetto and Chrome's tracing read them ("Trace Event Format"): a track for each worker,
/// for each link (several where its transfers overlap) and for each node's evictions; counters for each node's bytes in
/// use and for the rate of operations. Times are in microseconds with three decimals.
void write_chrome_json(Trace const& trace, TextFile& file);

}  // namespace granary

#pragma GCC visibility pop
