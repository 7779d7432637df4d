// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/export.hpp>

#include <memory>

namespace granary::detail {

/// Divides one device into several, each with its share of the memory, to try multi-device runs on one device. Its
/// parts can copy from each other. Throws InvalidArgument for a device that the API does not have, and for fewer than 1
/// parts.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<DeviceApi> divide_device(std::shared_ptr<DeviceApi> api, int device,
                                                                      int parts);

}  // namespace granary::detail
