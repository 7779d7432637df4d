// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: read(x) gives the body a View of const elements: take Kokkos::View<T const*, ...>, or declare the access as
// read_write(x)
#include "../program.hpp"

struct Updates {
  void operator()(granary::detail::HostExecutionSpace const&, Vector) const {}
};

void wrong() { runtime.submit("updates", Updates{}, read(x)); }
