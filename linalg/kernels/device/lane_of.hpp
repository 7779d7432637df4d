// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/device/lane_blas.hpp>
#include <granary/detail/linalg/kernels/device/vendor_blas.hpp>

namespace granary::kernels {

using DeviceBlas = LaneBlas<detail::DeviceExecutionSpace, LaneVendorBlas>;

[[nodiscard]] inline DeviceBlas blas_of(DeviceLane const& lane) {
  return {lane.space, LaneVendorBlas(lane.storage, &lane.space), lane.workspace, &lane.report};
}

}  // namespace granary::kernels
