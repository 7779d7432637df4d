// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace granary::detail {

// The memory nodes of a Runtime's machine, as `build_machine` makes them.
[[nodiscard]] inline NodeId host_node() { return NodeId(0); }
[[nodiscard]] inline NodeId disk_node() { return NodeId(1); }
[[nodiscard]] inline NodeId device_node(std::size_t device) { return NodeId(static_cast<std::uint32_t>(2 + device)); }

}  // namespace granary::detail
