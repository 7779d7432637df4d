// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: pass runtime.data(view) to read, write or read_write, not the View
#include "../program.hpp"

using namespace granary;

void wrong() { runtime.submit("scale", Scale{}, write(x_view)); }
