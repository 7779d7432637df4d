// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "options.hpp"

namespace granary::app {

/// The matrices in a file, as text or as JSON. Throws like list_matrices and open_matrix_market.
[[nodiscard]] std::string describe_file(InfoOptions const& options);

}  // namespace granary::app
