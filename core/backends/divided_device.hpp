// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/device_api.hpp>

#include <memory>

#pragma GCC visibility push(default)

namespace granary {

/// One device as several, each with its share of the memory: what runs on several devices can be tried on one. All its
/// parts can copy from each other. Throws InvalidArgument for a device that the API does not have, and for no part.
[[nodiscard]] std::shared_ptr<DeviceApi> divide_device(std::shared_ptr<DeviceApi> api, int device, int parts);

}  // namespace granary

#pragma GCC visibility pop
