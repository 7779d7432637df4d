// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/trace/text_file.hpp>

namespace granary {

/// Writes a Pajé trace for ViTE, pj_dump and StarVZ, with the names and fields of StarPU's traces. A Program contains
/// Memory Nodes; these contain Threads with their Workers ("Worker State": the task's codelet, with JobId, SubmitOrder,
/// GFlop, X, Y, Iteration) and a Memory Manager ("Used (MB)", evictions as events). Transfers are arrows between Memory
/// Managers and states of containers of type "Link". Times are in milliseconds with six decimals.
GRANARY_EXPORT void write_paje(Trace const& trace, TextFile& file);

}  // namespace granary
