// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <chrono>
#include <mutex>
#include <optional>

/// The differences between the supported versions of Kokkos (3.4.1 and newer), and nothing else.
namespace granary::detail {

#if defined(KOKKOS_ENABLE_SERIAL)
using HostExecutionSpace = Kokkos::Serial;
#elif defined(KOKKOS_ENABLE_OPENMP)
using HostExecutionSpace = Kokkos::OpenMP;
#else
#error "granary needs a Kokkos that was built with its Serial or its OpenMP backend"
#endif

#if defined(KOKKOS_ENABLE_CUDA)
using DeviceExecutionSpace = Kokkos::Cuda;
inline constexpr bool has_device_space = true;
#elif defined(KOKKOS_ENABLE_HIP) && KOKKOS_VERSION >= 40000
using DeviceExecutionSpace = Kokkos::HIP;
inline constexpr bool has_device_space = true;
#elif defined(KOKKOS_ENABLE_HIP)
using DeviceExecutionSpace = Kokkos::Experimental::HIP;
inline constexpr bool has_device_space = true;
#else
using DeviceExecutionSpace = HostExecutionSpace;  ///< placeholder if Kokkos has no device backend
inline constexpr bool has_device_space = false;
#endif

/// An instance of the caller's stream (cudaStream_t, hipStream_t). The stream must outlive it, and its device must be
/// current now. Later, kernels on the instance run on that device, whatever the current device is (CUDA since Kokkos
/// 4.3, HIP since 4.6).
template <class Stream>
[[nodiscard]] DeviceExecutionSpace make_device_instance(Stream stream) requires has_device_space {
  return DeviceExecutionSpace(stream);
}

/// True if several threads may launch Kokkos kernels concurrently, each on its own instance. Before 4.0 all instances
/// of Serial share one scratch memory: reductions, scans and team scratch of two threads overwrite each other.
inline constexpr bool concurrent_host_kernels = KOKKOS_VERSION >= 40000;

/// A host execution-space instance for one worker: its kernels run on the calling thread and do not wait for kernels of
/// other instances.
[[nodiscard]] inline HostExecutionSpace make_host_instance() {
#if !defined(KOKKOS_ENABLE_SERIAL)
  return Kokkos::OpenMP(1);
#elif KOKKOS_VERSION >= 40000
  return Kokkos::Serial(Kokkos::NewInstance{});
#else
  return Kokkos::Serial();
#endif
}

#if defined(KOKKOS_ENABLE_OPENMP) && KOKKOS_VERSION >= 40000
using TeamExecutionSpace = Kokkos::OpenMP;
inline constexpr bool has_team_space = true;
#else
using TeamExecutionSpace = HostExecutionSpace;  ///< placeholder if no host instance can use several cores
inline constexpr bool has_team_space = false;
#endif

/// A host instance that runs kernels on the calling thread and `threads - 1` more, which belong to that thread alone.
/// Make and use it on one thread; from then on that thread's own OpenMP regions have `threads` threads, too.
[[nodiscard]] inline TeamExecutionSpace make_team_instance(int threads) {
#if defined(KOKKOS_ENABLE_OPENMP) && KOKKOS_VERSION >= 40000
  omp_set_num_threads(threads);
  return Kokkos::OpenMP(threads);
#else
  static_cast<void>(threads);
  return make_host_instance();
#endif
}

/// Held while a body that launches Kokkos kernels runs on a host worker: one lock per process if host kernels must not
/// run concurrently, otherwise no lock.
class GRANARY_EXPORT HostKernelLock {
 public:
  HostKernelLock() {
    if constexpr (!concurrent_host_kernels) {
      static std::mutex mutex;
      m_lock.emplace(mutex, std::try_to_lock);
      if (m_lock->owns_lock()) return;
      auto const start = std::chrono::steady_clock::now();
      m_lock->lock();
      m_blocked = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
    }
  }
  /// The time spent waiting for the lock; costs nothing if it was free.
  [[nodiscard]] Duration blocked() const { return m_blocked; }

 private:
  std::optional<std::unique_lock<std::mutex>> m_lock;
  Duration m_blocked{0};
};

}  // namespace granary::detail

namespace granary {

/// True if Kokkos has a device backend.
using detail::has_device_space;

}  // namespace granary
