// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>

#pragma GCC visibility push(default)

namespace granary {

/// Whether the exception is a DeviceLost.
[[nodiscard]] bool is_device_lost(std::exception_ptr const& error);

}  // namespace granary

#pragma GCC visibility pop
