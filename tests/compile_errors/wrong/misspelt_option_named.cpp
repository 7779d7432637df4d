// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error with: 'sheduler'
#include "../program.hpp"

void wrong() { granary::Runtime const other(granary::RuntimeOptions{.sheduler = "darts"}); }
