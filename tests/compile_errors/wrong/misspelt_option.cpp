// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error with: no matching
// note with: MisspeltOption_WriteRuntimeOptionsBeforeTheBraces
#include "../program.hpp"

void wrong() { granary::Runtime const other({.sheduler = "darts"}); }
