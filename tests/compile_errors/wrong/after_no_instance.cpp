// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: name the work, then pass its execution-space instance: submit_after("fill", instance, write(x))
#include "../program.hpp"

void wrong() { runtime.submit_after("fill", read(y), write(x)); }
