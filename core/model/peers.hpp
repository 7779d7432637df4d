// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>

namespace granary {

/// The machine of one process of a cluster: `node` with a memory node "other processes", the home of values that come
/// from there. It is linked with a host node that has CPU workers or, without any, with the first host node; `receives`
/// values may come at once. Throws InvalidArgument if there is no host, or if `node` has such a node already.
[[nodiscard]] GRANARY_EXPORT detail::Machine with_peers(detail::Machine node, detail::Network const& network,
                                                        std::uint32_t receives);

}  // namespace granary
