// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error with: raed
#include "../program.hpp"

void wrong() { runtime.submit("scale", Scale{}, raed(x)); }
