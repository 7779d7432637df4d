// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace granary::detail {

struct GRANARY_EXPORT LauncherOptions {
  std::vector<int> device_of;     ///< by worker; -1: not a device worker
  Bytes workspace = 0;            ///< device memory per lane
  std::size_t most_launches = 4;  ///< active at once, per lane
};

/// Runs kernels on devices. Each worker has its own lane: a stream, a workspace, state that kernels keep between calls,
/// and two events per launch to time it. Emulated devices run the codelets' host kernels, one at a time where Kokkos
/// requires it (see HostWorkers); other devices run the device kernels.
class GRANARY_EXPORT DeviceLauncher final : public LaunchBackend {
 public:
  /// Throws InvalidArgument when a worker's device does not exist or most_launches is 0.
  DeviceLauncher(std::shared_ptr<DeviceApi> api, LauncherOptions options);
  ~DeviceLauncher() override;
  DeviceLauncher(DeviceLauncher const&) = delete;
  DeviceLauncher& operator=(DeviceLauncher const&) = delete;

  [[nodiscard]] Kernel kernel_of(Codelet const& codelet) const override;
  /// Creates the worker's lane; throws DeviceError when its device refuses.
  void enter(WorkerId worker) override;
  void leave(WorkerId worker) noexcept override;
  /// On emulated devices kernels are skipped as LaunchBackend describes; on a vendor's device every launched kernel
  /// runs.
  void launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool follows) override;
  [[nodiscard]] std::size_t most_launches() const override { return m_options.most_launches; }
  [[nodiscard]] std::optional<LaunchEnd> poll(WorkerId worker) override;

 private:
  struct Lane;
  struct Slot;

  [[nodiscard]] Lane& lane(WorkerId worker) const;
  [[nodiscard]] bool launches_kokkos_kernels(Kernel kernel) const;

  std::shared_ptr<DeviceApi> m_api;
  LauncherOptions m_options;
  std::vector<std::unique_ptr<Lane>> m_lanes;  // by worker; null before `enter`
  mutable std::mutex m_mutex;
  mutable std::unordered_map<Kernel, bool> m_launches_kokkos_kernels;  // as the codelets declare for their host kernels
};

}  // namespace granary::detail
