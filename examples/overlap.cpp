// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembles and solves several systems without a wait between them: assembly, factorizations and solves overlap.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

constexpr std::size_t n = 300;

struct Assemble {
  static constexpr bool launches_kokkos_kernels = false;
  double diagonal;
  template <class Exec, class A>
  void operator()(Exec const&, A a) const {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a(i, j) = i == j ? diagonal : 0.0;
    }
  }
};

struct System {
  Matrix a{"A", n, n};
  Vector b{"b", n};
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using granary::Uplo;
  std::vector<System> systems(4);
  for (auto const& [a, b] : systems) Kokkos::deep_copy(b, 8.0);
  systems[3].b(7) = std::nan("");
  granary::Runtime runtime;
  int refused = 0;
  // [overlap]
  std::vector<granary::Pending<>> solves;
  for (auto const& [a, b] : systems) {
    runtime.submit("assemble", Assemble{4.0}, write(runtime.data(a)));
    solves.push_back(granary::async::posv(runtime, Uplo::Lower, a, b, n));  // submits and returns
  }
  for (auto& solve : solves) {
    try {
      solve.wait();  // for this system alone
    } catch (granary::InvalidArgument const& error) {
      std::printf("%s\n", error.what());  // posv: B 'b' (300 x 1) holds NaN at (7, 0)
      ++refused;
    }
  }
  // [overlap]
  return refused == 1 && systems[0].b(n - 1) == 2.0 && systems[2].b(0) == 2.0 ? 0 : 1;
}
