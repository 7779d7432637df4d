// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/files/copy_matrix.hpp>

#include "options.hpp"

namespace granary::app {

/// Writes a matrix file from another, or from nothing. `between` as in copy_matrix. Throws InvalidArgument and
/// DataError when the input is not what it should be, the output cannot be, or the memory does not suffice.
void convert(ConvertOptions const& options, Between const& between);
void generate(GenerateOptions const& options, Between const& between);

}  // namespace granary::app
