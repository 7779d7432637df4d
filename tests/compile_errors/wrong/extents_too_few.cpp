// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: pass one extent for each * of the View's data type: (n) for Kokkos::View<double*[3]>
#include "../program.hpp"

void wrong() { runtime.temporary<Kokkos::View<double** [3]>>("places", n); }
