// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A body that a scheduler may stop on a core, so that a device takes its task: it runs again on the same values.
#include <granary/granary.hpp>

#include <cmath>
#include <cstdio>

using Grid1D = Kokkos::View<double*, Kokkos::HostSpace>;

constexpr std::size_t n = 65;

// One sweep towards the straight line between the ends.
template <class Grid>
void relax(Grid const& x) {
  for (std::size_t i = 1; i + 1 < n; ++i) x(i) = (x(i - 1) + x(i + 1)) / 2;
}

// [restartable]
struct Relax {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool restartable = true;
  template <class Exec, class Grid>
  void operator()(Exec const&, Grid x) const {
    auto const stop = granary::stop_token();
    for (int sweep = 0; sweep < sweeps && !stop.requested(); ++sweep) relax(x);
  }
  int sweeps;
};
// [restartable]

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Grid1D const x("x", n);
  x(n - 1) = 1;
  granary::Runtime runtime({.scheduler = "heteroprio:spoliation=sp"});
  runtime.submit("relax", Relax{20000}, read_write(runtime.data(x)));
  runtime.wait();
  std::printf("the middle is at %.6f\n", x(n / 2));
  return std::abs(x(n / 2) - 0.5) < 1e-6 ? 0 : 1;
}
