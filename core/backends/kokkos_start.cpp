// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_start.hpp>

#include <granary/detail/core/backends/device_api.hpp>

namespace granary::detail {

std::optional<std::string> kokkos_obstacle() {
  std::string const backend = vendor_backend();
  if (backend.empty()) return std::nullopt;
  std::string problem;
  if (auto const api = make_vendor_api(&problem); api && api->devices() > 0) return std::nullopt;
  return "Kokkos was built for " + backend + " and does not start without a device" +
         (problem.empty() ? "" : " (" + problem + ")");
}

}  // namespace granary::detail
