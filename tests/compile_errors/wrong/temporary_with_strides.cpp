// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: a temporary is contiguous: use a View in LayoutRight or LayoutLeft
#include "../program.hpp"

void wrong() { runtime.temporary<Kokkos::View<double*, Kokkos::LayoutStride>>("strided", n); }
