// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/device_api.hpp>
#include <granary/core/backends/device_memory.hpp>
#include <granary/core/engine/backend.hpp>

#include <memory>

#pragma GCC visibility push(default)

namespace granary {

/// The host as an end of a link, where a device's number stands otherwise.
inline constexpr int host_end = -1;

/// The copies between the host and devices, and between devices: one stream per link. What one end has pinned goes
/// straight to the link's stream; host memory that is not pinned goes through pinned staging slots, piece by piece, on
/// a thread of its own. One thread polls all copies under way and calls their completions; it sleeps while there is
/// none.
class DeviceCopies {
 public:
  DeviceCopies(std::shared_ptr<DeviceApi> api, std::shared_ptr<PinnedMemory> pinned);
  /// What performs the copies from one end to the other; host_end or a device. It may outlive this. The destructor of
  /// the last of them performs what was asked for first. Throws InvalidArgument when an end does not exist or both are
  /// the same, DeviceError when the device refuses a stream.
  [[nodiscard]] std::shared_ptr<CopyBackend> link(int from, int to);

 private:
  class Copies;

  std::shared_ptr<Copies> m_copies;
};

}  // namespace granary

#pragma GCC visibility pop
