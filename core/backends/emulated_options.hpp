// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <functional>

namespace granary::detail {

enum class GRANARY_EXPORT EmulatedStep : std::uint8_t { Allocate, Copy, Launch };

/// One operation of an emulated device.
struct GRANARY_EXPORT EmulatedOperation {
  EmulatedStep step = EmulatedStep::Allocate;
  int device = 0;
  /// Counted per kind and device, from 0; a copy counts on the device whose stream performs it.
  std::uint64_t number = 0;
};

struct GRANARY_EXPORT EmulatedOptions {
  int devices = 1;
  Bytes memory = 256_MiB;           ///< of each device
  Bytes beside = 0;                 ///< that may be allocated in addition, but is not in the properties
  Bytes link_bytes_per_second = 0;  ///< 0: as fast as memcpy
  Duration link_latency{0};         ///< of each copy
  bool peers = true;                ///< whether devices copy from each other directly
  /// Called just before the operation is performed: on the stream's thread, for an allocation on the caller's. If it
  /// throws, the operation fails with this exception. After a DeviceLost the device is lost, and all later operations
  /// on it fail with DeviceLost.
  std::function<void(EmulatedOperation const&)> before = {};
};

}  // namespace granary::detail
