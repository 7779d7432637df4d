// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <optional>
#include <string>

namespace granary::detail {

/// The reason why Kokkos cannot be initialised here, if any: a Kokkos with CUDA or HIP ends a process without a device.
[[nodiscard]] GRANARY_EXPORT std::optional<std::string> kokkos_obstacle();

}  // namespace granary::detail
