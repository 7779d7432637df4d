// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: a View of the body has another layout than its datum: take it in the layout of the View that is registered (a
// temporary's is Kokkos::LayoutRight), or with a template's type
#include "../program.hpp"

struct Updates {
  void operator()(granary::detail::HostExecutionSpace const&,
                  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>) const {}
};

void wrong() { runtime.submit("updates", Updates{}, write(runtime.temporary<double>(n, n))); }
