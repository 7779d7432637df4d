// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the body must take an execution space and one View for each access: submit(name, body, read(x), write(y))
// calls body(space, x, y)
#include "../program.hpp"

struct Reads {
  void operator()(granary::detail::HostExecutionSpace const&, Kokkos::View<double const*, Kokkos::HostSpace>) const {}
};

void wrong() { runtime.submit("reads", Reads{}, read(x), read(y)); }
