// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <cstddef>
#include <string>

namespace granary::app {

/// A canonical name, also for a file that does not exist yet.
[[nodiscard]] std::string place_of(std::string const& file);

/// Throws Error if the scratch directory has no room for the part of `values` that host memory and the memory of so
/// many devices do not hold. `values`: bytes of data without a home that live at the same time.
void require_scratch(RuntimeOptions const& options, std::size_t devices, Bytes values);

}  // namespace granary::app
