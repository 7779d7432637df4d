// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/version.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>
#include <granary/version.hpp>

#include <fmt/format.h>
#include <hdf5.h>

namespace granary::app {

using namespace detail;

Versions versions() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return {GRANARY_VERSION_STRING,
          fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100),
          GRANARY_KOKKOSKERNELS_VERSION, fmt::format("{}.{}.{}", major, minor, release)};
}

std::string version_text() {
  auto const of = versions();
  return fmt::format(
      "granary {}\nKokkos {}, Kokkos Kernels {}\nBLAS: {}\ntile kernels on the host: {}\nHDF5 {}\n"
      "backends: host ({}), disk ({})",
      of.granary, of.kokkos, of.kokkos_kernels, find_blas_library().text, host_kernels_description(), of.hdf5,
      HostExecutionSpace::name(), make_async_file_io()->engine_name());
}

}  // namespace granary::app
