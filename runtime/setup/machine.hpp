// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <vector>

namespace granary {

/// Node 0 is host memory, node 1 the disk; the devices follow. Links 0 and 1 are from and to the disk; `device_links`
/// follow. Workers are the cores, then each device's lanes.
[[nodiscard]] GRANARY_EXPORT detail::Machine build_machine(RuntimeOptions const& options, Devices const& devices,
                                                           std::vector<DeviceLink> const& links,
                                                           MachineCache const& cache);

}  // namespace granary
