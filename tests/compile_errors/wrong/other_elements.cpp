// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the body does not take the Views of its accesses: take each by value, with the elements and the layout of its
// datum or with a template's type
#include "../program.hpp"

struct Updates {
  template <class Exec>
  void operator()(Exec const&, Kokkos::View<float*, Kokkos::HostSpace>) const {}
};

void wrong() { runtime.submit("updates", Updates{}, read_write(x)); }
