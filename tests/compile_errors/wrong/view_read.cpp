// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: pass runtime.data(view) to read, write or read_write, not the View
#include "../program.hpp"

void wrong() { runtime.submit("scale", Scale{}, granary::read_write(x_view)); }
