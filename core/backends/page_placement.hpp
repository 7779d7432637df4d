// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstddef>
#include <vector>

namespace granary::detail {

/// Has the system deal the pages of the range, which nobody has touched yet, over these NUMA domains in turn; where one
/// is full, the pages go to others. Does nothing for no domains. Returns false if the system refuses, as in containers
/// that forbid mbind(2): then each page is in the domain of the core that touches it first.
GRANARY_EXPORT bool interleave_pages(std::byte* memory, Bytes bytes, std::vector<unsigned> const& domains);

}  // namespace granary::detail
