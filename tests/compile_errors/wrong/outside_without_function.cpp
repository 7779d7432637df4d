// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: pass a function that tells the end of the work: submit_outside(name, ended, write(x)) calls ended() until it
// returns true
#include "../program.hpp"

void wrong() { runtime.submit_outside("receive", 3, write(x)); }
