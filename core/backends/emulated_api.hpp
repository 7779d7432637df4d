// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/device_api.hpp>

#include <cstdint>
#include <functional>
#include <memory>

#pragma GCC visibility push(default)

namespace granary {

enum class EmulatedStep : std::uint8_t { Allocate, Copy, Launch };

/// One operation of an emulated device.
struct EmulatedOperation {
  EmulatedStep step = EmulatedStep::Allocate;
  int device = 0;
  std::uint64_t number = 0;  ///< of its kind and device, from 0; a copy counts on the device whose stream performs it
};

struct EmulatedOptions {
  int devices = 1;
  Bytes memory = 256_MiB;           ///< of each device
  Bytes link_bytes_per_second = 0;  ///< 0: as fast as memcpy
  Duration link_latency{0};         ///< of each copy
  bool peers = true;                ///< whether devices copy from each other directly
  /// Called just before the operation is performed: from the stream's thread, for an allocation from the caller's. What
  /// it throws is what the operation fails with; after a DeviceLost the device is gone, and all that it is asked for
  /// later fails with DeviceLost.
  std::function<void(EmulatedOperation const&)> before = {};
};

/// Devices on the host. Each stream is a thread that performs its operations in order; each device's memory is private
/// host memory, whose pages are taken as they are touched. The copies of one stream take bytes / rate + latency each,
/// one after the other; what copies on other streams do does not slow them down. Kernels run on the stream's thread,
/// and what they return with is complete. All host memory can be pinned that is not so already.
///
/// A launch or a copy that fails is reported by `done` of the events recorded after it and before the next operation of
/// its kind. A copy whose device end does not lie in one of the device's allocations throws DeviceError. Throws
/// InvalidArgument when there is no device.
[[nodiscard]] std::shared_ptr<DeviceApi> make_emulated_api(EmulatedOptions options);

}  // namespace granary

#pragma GCC visibility pop
