// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks on tiles of a View, on blocks of rows with a halo, and on the whole View, in any order:
//   ./granary-example-parts
#include <granary/granary.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>

struct Fill {
  double what;
  template <class Exec, class A>
  void operator()(Exec const& exec, A const& a) const {
    double const value = what;
    auto const cols = a.extent(1);
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0) * cols), KOKKOS_LAMBDA(std::size_t e) {
          auto const i = e / cols, j = e % cols;
          a(i, j) = value + static_cast<double>(i);
        });
  }
};

// Each row of `out` is the mean of the rows around it in `in`, which has one row more on each side.
struct Smooth {
  template <class Exec, class In, class Out>
  void operator()(Exec const& exec, In const& in, Out const& out) const {
    auto const cols = out.extent(1);
    Kokkos::parallel_for(
        "smooth", Kokkos::RangePolicy<Exec>(exec, 0, out.extent(0) * cols), KOKKOS_LAMBDA(std::size_t e) {
          auto const i = e / cols, j = e % cols;
          out(i, j) = (in(i, j) + in(i + 1, j) + in(i + 2, j)) / 3;
        });
  }
};

struct Scale {
  double factor;
  template <class Exec, class A>
  void operator()(Exec const& exec, A const& a) const {
    double const by = factor;
    auto const cols = a.extent(1);
    Kokkos::parallel_for(
        "scale", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0) * cols),
        KOKKOS_LAMBDA(std::size_t e) { a(e / cols, e % cols) *= by; });
  }
};

int main() {
  Kokkos::ScopeGuard const guard;
  std::size_t const n = 1000, block = 250;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> a("a", n + 2, n), b("b", n + 2, n);
  granary::Runtime runtime;

  auto const whole = runtime.data(a);
  auto const result = runtime.data(b);
  runtime.submit("fill", Fill{1.0}, write(whole));
  auto const tiles = runtime.partition(whole, 256, 256);
  for (auto const& tile : tiles) runtime.submit("scale", Scale{2.0}, read_write(tile));
  for (std::size_t first = 1; first <= n; first += block) {
    auto const halo = runtime.part(whole, std::pair(first - 1, first + block + 1), Kokkos::ALL);
    auto const rows = runtime.part(result, std::pair(first, first + block), Kokkos::ALL);
    runtime.submit("smooth", Smooth{}, read(halo), write(rows));
  }
  runtime.submit("scale", Scale{0.5}, read_write(result));
  runtime.wait();

  double error = 0;
  for (std::size_t i = 1; i <= n; ++i) error += std::fabs(b(i, n - 1) - 1.0 - static_cast<double>(i)) / double{n};
  std::printf("%zu tiles, mean error %g\n", tiles.size(), error);
  return error < 1e-9 ? 0 : 1;
}
