// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = A x by tasks on blocks of rows, whose bodies are parallel themselves. Argument: cores per worker.
#include <granary/granary.hpp>

#include <cstdio>
#include <cstdlib>

// [body]
struct Multiply {
  template <class Exec, class A, class X, class Y>
  void operator()(Exec const& exec, A a, X x, Y y) const {
    using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
    Kokkos::parallel_for(
        "multiply", Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(a.extent(0)), Kokkos::AUTO),
        KOKKOS_LAMBDA(Team const& team) {
          auto const row = team.league_rank();
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, a.extent(1)), [&](int j, double& s) { s += a(row, j) * x(j); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] { y(row) = sum; });
        });
  }
};
// [body]

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
  std::size_t const n = 1000, block = 250;
  Matrix a("A", n, n);
  Vector x("x", n), y("y", n);
  Kokkos::deep_copy(a, 2.0);
  Kokkos::deep_copy(x, 1.0);
  unsigned const cores = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  // [runtime]
  granary::Runtime runtime({.cores_per_worker = cores});
  // [runtime]
  auto const dx = runtime.data(x);
  for (std::size_t first = 0; first < n; first += block) {
    auto const rows = std::pair(first, first + block);
    auto const da = runtime.data(Matrix(Kokkos::subview(a, rows, Kokkos::ALL)));
    auto const dy = runtime.data(Vector(Kokkos::subview(y, rows)));
    runtime.submit("multiply", Multiply{}, read(da), read(dx), write(dy));
  }
  runtime.wait();
  std::printf("%u workers of %u cores: y = %g everywhere\n", *runtime.options().workers, cores, y(n - 1));
  return y(0) == 2.0 * n && y(n - 1) == 2.0 * n ? 0 : 1;
}
