// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <memory>

namespace granary::detail {

/// The copies between the host and devices, and between devices: one stream per link. Copies from and to pinned memory
/// go directly to the link's stream. Host memory that is not pinned is copied in pieces through pinned staging slots,
/// on a separate thread. One thread polls all active copies and calls their completions; it sleeps when there is none.
class GRANARY_EXPORT DeviceCopies {
 public:
  DeviceCopies(std::shared_ptr<DeviceApi> api, std::shared_ptr<PinnedMemory> pinned);
  /// The backend for copies from one end, host_end or a device, to the other. It may outlive this object. The
  /// destructor of the last of them first completes all requested copies. Throws InvalidArgument when an end does not
  /// exist or both are the same, DeviceError when the device refuses a stream.
  [[nodiscard]] std::shared_ptr<CopyBackend> link(int from, int to);

 private:
  class Implementation;

  std::shared_ptr<Implementation> m_implementation;
};

}  // namespace granary::detail
