// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/runtime/setup/options.hpp>

#include <optional>
#include <string>

namespace granary::app {

/// Options of the command line.
struct InfoOptions {
  std::optional<std::string> json;  ///< a file, or "-" for standard output
  bool measure = false;             ///< measure the links again
  std::optional<std::string> blas;  ///< choose_blas has loaded it
  RuntimeOptions runtime;
};

}  // namespace granary::app
