// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace granary::app {

struct Versions {
  std::string granary;
  std::string kokkos;
  std::string kokkos_kernels;  ///< "none" if granary was built without
  std::string hdf5;            ///< of the loaded library
};

[[nodiscard]] Versions versions();

/// The versions of granary and of its libraries, one per line.
[[nodiscard]] std::string version_text();

}  // namespace granary::app
