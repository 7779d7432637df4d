// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: say how the task uses each datum x: read(x), write(x) or read_write(x)
#include "../program.hpp"

void wrong() { runtime.submit("axpy", Axpy{}, read(x), y); }
