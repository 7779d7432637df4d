// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: a View of the body has another layout than its datum: take it in the layout of the View that is registered (a
// temporary's is Kokkos::LayoutRight), or with a template's type
#include "../program.hpp"

using Columns = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

struct Copies {
  template <class Exec>
  void operator()(Exec const&, Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace>, Columns) const {}
};

void wrong(granary::Data<Columns> const& a, granary::Data<Columns> const& b) {
  runtime.submit("copies", Copies{}, read(a), write(b));
}
