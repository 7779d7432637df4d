// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace granary {

/// Figures of a device; see RuntimeFigures.
struct GRANARY_EXPORT DeviceFigures {
  std::string name;         ///< of its memory node, "device 0"
  std::string description;  ///< as reported by the device
  Bytes limit = 0;          ///< for data
  Bytes peak = 0;           ///< of the bytes in use
  std::uint64_t tasks = 0;
};

/// What a Runtime has used and moved so far; see Runtime::figures.
struct GRANARY_EXPORT RuntimeFigures {
  /// Bytes moved over the links of devices.
  struct DeviceTraffic {
    Bytes from_host = 0;
    Bytes to_host = 0;
    Bytes between = 0;  ///< from one device to another directly
  };

  Bytes host_memory_peak = 0;               ///< of the bytes in use under the memory limit
  Bytes bytes_read = 0;                     ///< from files: matrices and scratch
  Bytes bytes_written = 0;                  ///< to files
  Bytes bytes_sent = 0;                     ///< values that went to other processes
  std::vector<DeviceFigures> devices = {};  ///< in the machine's order
  DeviceTraffic device_traffic = {};
};

}  // namespace granary
