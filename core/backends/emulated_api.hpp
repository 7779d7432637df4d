// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/emulated_options.hpp>
#include <granary/detail/core/base/export.hpp>

#include <memory>

namespace granary::detail {

/// Devices on the host. Each stream is a thread that performs its operations in order. Each device's memory is private
/// host memory, whose pages are allocated when they are first touched. The copies of one stream take bytes / rate +
/// latency each, one after the other, independently of other streams. Kernels run on the stream's thread and are
/// complete when they return. All host memory that is not pinned yet can be pinned.
///
/// A failed launch or copy is reported by `done` of the events recorded between it and the next operation of its kind.
/// A copy whose device end is outside the device's allocations throws DeviceError. Throws InvalidArgument for fewer
/// than 1 devices.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<DeviceApi> make_emulated_api(EmulatedOptions options);

}  // namespace granary::detail
