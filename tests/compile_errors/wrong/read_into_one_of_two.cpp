// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: read(x) gives the body a View of const elements: take Kokkos::View<T const*, ...>, or declare the access as
// read_write(x)
#include "../program.hpp"

struct Copies {
  template <class Exec>
  void operator()(Exec const&, Vector, Vector) const {}
};

void wrong() { runtime.submit("copies", Copies{}, read(x), write(y)); }
