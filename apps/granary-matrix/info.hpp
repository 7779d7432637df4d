// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "options.hpp"

namespace granary::app {

/// What is in a matrix file, as text for people or as JSON. Throws as list_matrices and open_matrix_market do.
[[nodiscard]] std::string describe_file(InfoOptions const& options);

}  // namespace granary::app
