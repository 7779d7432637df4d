// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>

#include <granary/detail/core/base/export.hpp>

namespace granary::detail {

/// While it is held, abandon_partial_files waits, and once that has removed the files, nobody gets it. For libraries
/// that create a file again by its name: a signal in between would leave it behind.
[[nodiscard]] GRANARY_EXPORT std::unique_lock<std::mutex> hold_partial_files();

}  // namespace granary::detail
