// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error with: did you mean 'submit'? | no member named 'sumbit'
#include "../program.hpp"

void wrong() { runtime.sumbit("scale", Scale{}, read(x)); }
