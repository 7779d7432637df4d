// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace granary::app {

struct Versions {
  std::string granary;
  std::string kokkos;
  std::string kokkos_kernels;  ///< "none" where granary was built without
  std::string hdf5;            ///< of the library that is loaded
};

[[nodiscard]] Versions versions();

/// The versions of granary and of what it was built with, a line each.
[[nodiscard]] std::string version_text();

}  // namespace granary::app
