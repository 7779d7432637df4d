// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An application with its own tasks and linalg.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <cstddef>
#include <cstdio>

struct Axpy {
  double a;
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    auto s = a;
    Kokkos::parallel_for(
        "axpy", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { y(i) += s * x(i); });
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::View<double*, Kokkos::HostSpace> x_view("x", 1000), y_view("y", 1000);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a_view("A", 200, 200);
  Kokkos::deep_copy(x_view, 1.0);
  for (std::size_t i = 0; i < 200; ++i) a_view(i, i) = 4.0;

  // A policy that is only known by its own registration is also there with a static library.
  granary::Runtime runtime({.scheduler = "laheteroprio"});
  auto x = runtime.data(x_view), y = runtime.data(y_view);
  for (int step = 0; step < 10; ++step) runtime.submit("axpy", Axpy{2.0}, read(x), read_write(y));
  runtime.wait();
  granary::potrf(runtime, granary::Uplo::Lower, a_view, 64);

  for (std::size_t i = 0; i < y_view.extent(0); ++i) {
    if (y_view(i) != 20.0) {
      std::printf("y(%zu) is %g, not 20\n", i, y_view(i));
      return 1;
    }
  }
  std::printf("y = 20 everywhere\n");
  return a_view(199, 199) == 2.0 ? 0 : 1;
}
