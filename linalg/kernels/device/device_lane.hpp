// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/lane_storage.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace granary::kernels {

/// Scratch memory of a lane, allocated piece by piece until the kernel ends.
class LaneScratch {
 public:
  explicit LaneScratch(std::span<std::byte> bytes) : m_rest(bytes) {}

  /// Memory for `count` of T, aligned to 256 bytes. Throws DeviceError if there is too little.
  template <class T>
  [[nodiscard]] T* take(std::size_t count) {
    if (room<T>() < count) {
      throw DeviceError("a kernel needs " + std::to_string(count * sizeof(T)) +
                        " bytes of its lane's workspace, but only " + std::to_string(m_rest.size()) + " are left");
    }
    auto* const taken = reinterpret_cast<T*>(m_rest.data());
    constexpr std::size_t alignment = 256;
    std::size_t const bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    m_rest = m_rest.subspan(bytes < m_rest.size() ? bytes : m_rest.size());
    return taken;
  }
  /// How many of T fit.
  template <class T>
  [[nodiscard]] std::size_t room() const {
    return m_rest.size() / sizeof(T);
  }
  [[nodiscard]] std::span<std::byte> rest() const { return m_rest; }

 private:
  std::span<std::byte> m_rest;
};

/// A stream of a device for the kernels of device_kernels.hpp, with the lane's own resources.
struct DeviceLane {
  detail::DeviceExecutionSpace const& space;
  detail::LaneStorage& storage;
  std::span<std::byte> workspace;
  detail::KernelReport& report;

  /// The lane that runs the task of this call.
  explicit DeviceLane(detail::KernelCall const& call)
      : space(*static_cast<detail::DeviceExecutionSpace const*>(call.instance)),
        storage(*call.storage),
        workspace(call.workspace),
        report(*call.report) {}
};

}  // namespace granary::kernels
