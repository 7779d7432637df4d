// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: name the task first: submit("axpy", body, read(x), ...)
#include "../program.hpp"

void wrong() { runtime.submit(Scale{}, read(x)); }
