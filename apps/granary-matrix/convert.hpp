// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "options.hpp"

namespace granary::app {

/// Writes a matrix file from another, or from nothing. Throws InvalidArgument and DataError when the input is not what
/// it should be, the output cannot be, or the memory does not suffice.
void convert(ConvertOptions const& options);
void generate(GenerateOptions const& options);

}  // namespace granary::app
