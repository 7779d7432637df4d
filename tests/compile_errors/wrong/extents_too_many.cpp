// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: a temporary has at most 8 dimensions
#include "../program.hpp"

void wrong() { runtime.temporary<double>(1, 2, 3, 4, 5, 6, 7, 8, 9); }
