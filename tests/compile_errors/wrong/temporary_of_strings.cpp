// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: granary moves the elements of a temporary byte by byte: use a trivially copyable type
#include "../program.hpp"

void wrong() { runtime.temporary<std::string>("names", n); }
