// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: tasks write a temporary: use a type whose elements are not const
#include "../program.hpp"

void wrong() { runtime.temporary<Kokkos::View<double const*>>("constants", n); }
