// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data where the application has them: on the host, read-only, on a device, on both sides.
#include <granary/dual_view.hpp>
#include <granary/granary.hpp>

#include <cstdio>

namespace {

struct Particle {
  double position[3];
  int cell;
};

// [bodies]
struct Scale {
  template <class Exec, class T, class P>
  void operator()(Exec const& exec, T table, P particles) const {
    Kokkos::parallel_for(
        "scale", Kokkos::RangePolicy<Exec>(exec, 0, particles.extent(0)),
        KOKKOS_LAMBDA(std::size_t i) { particles(i).position[0] *= table(particles(i).cell); });
  }
};
struct Fill {
  double value;
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    auto const v = value;
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) { x(i) = v; });
  }
};
struct Add {
  double what;
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    auto const term = what;
    Kokkos::parallel_for(
        "add", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) { x(i) += term; });
  }
};
// [bodies]
struct Add2 {
  double what;
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    auto const term = what;
    Kokkos::parallel_for(
        "add", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) {
          for (std::size_t j = 0; j < x.extent(1); ++j) x(i, j) += term;
        });
  }
};

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  granary::Runtime runtime({.workers = 1, .devices = "host:1"});
  using Kokkos::HostSpace;
  bool const keep = argc >= 1;  // whether the application wants the elements

  // [host]
  Kokkos::View<Particle*, HostSpace> particles("particles", 1000);
  Kokkos::View<double*, HostSpace> factors("factors", 10);
  Kokkos::View<double const*, HostSpace> const table = factors;
  Kokkos::View<double**, HostSpace> matrix("matrix", 100, 50);
  auto const p = runtime.data(particles);
  auto const t = runtime.data(table);  // tasks only read it
  auto const column = runtime.data(Kokkos::subview(matrix, Kokkos::ALL, 3), "column");
  for (int step = 1; step <= 3; ++step) {
    Kokkos::deep_copy(factors, step);
    runtime.submit("scale", Scale{}, read(t), read_write(p));
    runtime.wait(t);  // the table may change now; p stays where it is
  }
  // [host]

  // [either]
  using Matrix = Kokkos::View<double**, HostSpace>;
  granary::Temporary<Matrix> const sums = keep ? runtime.data(matrix) : runtime.temporary<Matrix>("sums", 100, 50);
  // [either]
  runtime.submit("add", Add2{1.0}, read_write(sums));
  runtime.wait();

  // [device]
  auto const u = runtime.device_view<double*>(0, "u", 1000);
  auto const du = runtime.data(u);
  runtime.submit("fill", Fill{1.0}, write(du));
  runtime.submit("add", Add{1.0}, read_write(du));
  runtime.wait(du);  // u.view has the values, on device 0
  // [device]

  // [dual]
  Kokkos::DualView<double*> dual("dual", 1000);
  auto const both = granary::dual_data(runtime, dual);
  dual.h_view(0) = 5;
  dual.modify_host();
  runtime.submit("add", Add{1.0}, read_write(both));
  runtime.wait(both);
  std::printf("%g on the host\n", dual.h_view(0));  // 6
  // [dual]

  runtime.submit("add", Add{2.0}, read_write(column));
  runtime.wait();
  return dual.h_view(0) == 6 && matrix(99, 3) == 3 && matrix(99, 2) == 1 ? 0 : 1;
}
