// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/planner/movement/data_table.hpp>

#include <span>

namespace granary::detail {

/// Throws InvalidArgument for a datum whose description contradicts itself, the machine, or the data whose bytes it
/// shares.
GRANARY_EXPORT void check_registration(Topology const& topology, DataTable const& data,
                                       DataDescription const& description, std::span<FixedPlace const> places,
                                       std::span<SharedBytes const> shares);

}  // namespace granary::detail
