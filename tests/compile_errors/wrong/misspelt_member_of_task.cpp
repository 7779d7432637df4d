// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error with: no matching
// note with: MisspeltMember_WriteTaskInfoBeforeTheBraces
#include "../program.hpp"

void wrong() { runtime.submit({.name = "scale", .priorty = 3}, Scale{}, read(x)); }
