// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/session/figures.hpp>
#include <granary/detail/runtime/setup/nodes.hpp>

#include <vector>

namespace granary::detail {

// Functions of Runtime in 0.1 that have another name now. Deprecated in 0.2, to be removed in 0.3 (docs/stability.md).
template <class R>
class GRANARY_EXPORT DeprecatedCalls {
 public:
  [[deprecated("use figures().host_memory_peak")]] [[nodiscard]] Bytes host_memory_peak() const {
    return figures().host_memory_peak;
  }
  [[deprecated("use figures().bytes_read")]] [[nodiscard]] Bytes bytes_read() const { return figures().bytes_read; }
  [[deprecated("use figures().bytes_written")]] [[nodiscard]] Bytes bytes_written() const {
    return figures().bytes_written;
  }
  [[deprecated("use figures().bytes_sent")]] [[nodiscard]] Bytes bytes_sent() const { return figures().bytes_sent; }
  [[deprecated("use figures().devices")]] [[nodiscard]] std::vector<DeviceFigures> devices() const {
    return figures().devices;
  }
  [[deprecated("use figures().device_traffic")]] [[nodiscard]] RuntimeFigures::DeviceTraffic device_traffic() const {
    return figures().device_traffic;
  }
  [[deprecated("data are prefetched to host_node() or device_node(d)")]] [[nodiscard]] static NodeId disk_node() {
    return detail::disk_node();
  }

 private:
  [[nodiscard]] RuntimeFigures figures() const { return static_cast<R const&>(*this).figures(); }
};

}  // namespace granary::detail
