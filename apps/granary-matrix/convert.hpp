// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "options.hpp"

namespace granary::app {

/// Writes a matrix file from another one, or from a generated matrix. Throws InvalidArgument and DataError if the input
/// is invalid, the output is impossible, or the memory does not suffice.
void convert(ConvertOptions const& options);
void generate(GenerateOptions const& options);

}  // namespace granary::app
