// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// Why Kokkos cannot be initialised here, if it cannot: one with CUDA or HIP ends the process where there is no device.
[[nodiscard]] std::optional<std::string> kokkos_obstacle();

}  // namespace granary

#pragma GCC visibility pop
