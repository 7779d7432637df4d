// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/device/device_kernels.hpp>

#include <cstddef>
#include <vector>

namespace granary::testing {

using Space = detail::DeviceExecutionSpace;

// A copy in the memory of the lane's device.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::vector<T> const& values) : m_values("values", values.size()) {
    Kokkos::deep_copy(m_values, HostView(const_cast<T*>(values.data()), values.size()));
  }
  [[nodiscard]] T* data() const { return m_values.data(); }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> result(m_values.extent(0));
    Kokkos::deep_copy(HostView(result.data(), result.size()), m_values);
    return result;
  }

 private:
  using HostView = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::View<T*, Space::memory_space> m_values;
};

class Lane {
 public:
  explicit Lane(Bytes workspace = 1_MiB)
      : m_bytes(workspace), m_workspace(std::vector<std::byte>(workspace)), m_report({detail::KernelReport{}}) {}
  // Enqueues function(lane) and waits for it.
  template <class Function>
  void run(Function const& function) {
    detail::KernelCall call;
    call.instance = &m_space;
    call.report = m_report.data();
    call.storage = &m_storage;
    call.workspace = {m_workspace.data(), m_bytes};
    function(kernels::DeviceLane(call));
    m_space.fence();
  }
  // What the kernels since the beginning reported.
  [[nodiscard]] detail::KernelReport report() const { return m_report.values().front(); }

 private:
  Space m_space;
  Bytes m_bytes;
  detail::LaneStorage m_storage;
  OnDevice<std::byte> m_workspace;
  OnDevice<detail::KernelReport> m_report;
};

}  // namespace granary::testing
