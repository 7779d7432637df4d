// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/model/precision.hpp>

/// The model of machines, data and tasks under public names, for those who write schedulers or submit task graphs to
/// the simulator. Users of the Runtime need none of them, so that <granary/granary.hpp> shows none.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// auto const makes = [](granary::Access const& access) { return access.mode != granary::AccessMode::Read; };
/// assert(makes({granary::DataId(0), granary::AccessMode::ReadWrite}));
/// ```
namespace granary {

using detail::Access;
using detail::AccessList;
using detail::AccessMode;
using detail::Codelet;
using detail::DataDescription;
using detail::GraphRecorder;
using detail::Machine;
using detail::MemoryNode;
using detail::NodeKind;
using detail::Precision;
using detail::Topology;
using detail::Worker;
using detail::WorkerGroup;
using detail::WorkerKind;

}  // namespace granary
