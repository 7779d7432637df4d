// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses the application's scheduler of stack.cpp.
#include <granary/granary.hpp>

#include <cstdio>

struct Increment {
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    Kokkos::parallel_for(
        "increment", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { x(i) += 1; });
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::View<int*, Kokkos::HostSpace> x_view("x", 100);

  // [registration]
  granary::Runtime runtime({.scheduler = "stack"});
  // [registration]
  auto x = runtime.data(x_view);
  for (int step = 0; step < 10; ++step) runtime.submit("increment", Increment{}, read_write(x));
  runtime.wait();

  for (std::size_t i = 0; i < x_view.extent(0); ++i) {
    if (x_view(i) != 10) return 1;
  }
  std::printf("every element was incremented 10 times\n");
}
