// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>
#include <granary/trace/text_file.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// A Pajé trace for ViTE, pj_dump and StarVZ, with the names and fields that StarPU's traces have: a Program holds
/// Memory Nodes, these Threads with their Workers ("Worker State": the task's codelet, with JobId, SubmitOrder, GFlop,
/// X, Y, Iteration) and a Memory Manager ("Used (MB)", evictions as events); transfers are arrows from one Memory
/// Manager to another and states of containers of type "Link". Times are in milliseconds with six decimals.
void write_paje(Trace const& trace, TextFile& file);

}  // namespace granary

#pragma GCC visibility pop
