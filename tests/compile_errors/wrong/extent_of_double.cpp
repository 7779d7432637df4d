// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the extents of a temporary are integers: convert others, static_cast<std::size_t>(n)
#include "../program.hpp"

void wrong() { runtime.temporary<double>(0.5 * static_cast<double>(n)); }
