// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_api.hpp>

namespace granary::detail {

std::shared_ptr<DeviceApi> make_vendor_api(std::string* problem) {
  if (problem != nullptr) *problem = "granary was built with a Kokkos that has neither CUDA nor HIP";
  return nullptr;
}

char const* vendor_backend() { return ""; }

}  // namespace granary::detail
