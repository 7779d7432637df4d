// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/simulator/platform_truth.hpp>

#include "values.hpp"

namespace granary::app {

/// The platform's machine for bounds: each device with one worker, of its whole speed.
[[nodiscard]] detail::Machine with_whole_devices(Platform const& platform);
/// The times for bounds on that machine. Small kernels run beside each other on devices that workers share: they take
/// their part of the device. Both must outlive the function.
[[nodiscard]] detail::KernelTime times_for_bounds(Platform const& platform, PlatformTruth const& truth,
                                                  detail::Precision precision);

/// Sets the memory of the platform's devices: a size, or a fraction of the working set divided by their number. Returns
/// the bytes of one. Throws InvalidArgument as Platform::limit.
Bytes set_memory(Platform& platform, Memory const& memory, Bytes working_set);

}  // namespace granary::app
