// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: name the type of the elements, temporary<double>(n, m), or of a View, temporary<Kokkos::View<double**>>(n, m)
#include "../program.hpp"

void wrong() { runtime.temporary<double**>(n, n); }
