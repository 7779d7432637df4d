// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/setup/node_share.hpp>

#include <mpi.h>

#include <vector>

namespace granary::mpi {

/// Collective. Which of its node's processes this is, which may run on these cores.
[[nodiscard]] GRANARY_EXPORT NodeShare node_share(MPI_Comm communicator, std::vector<unsigned> const& cores);

}  // namespace granary::mpi
