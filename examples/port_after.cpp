// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// port_before.cpp on granary; docs/porting.md has both.
#include <granary/granary.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr std::size_t n = 200'000;
constexpr std::size_t block = 25'000;
constexpr int steps = 60;

struct Start {
  std::size_t first;
  template <class Exec, class X, class V>
  void operator()(Exec const& exec, X x, V v) const {
    auto const offset = first;
    Kokkos::parallel_for(
        "start", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) {
          x(i) = 2.0 * static_cast<double>(offset + i) / n;
          v(i) = x(i) - 1.0;
        });
  }
};

struct Speed {
  template <class Exec, class V, class Most, class Part>
  void operator()(Exec const& exec, V v, Most fastest, Part part) const {
    Kokkos::parallel_reduce(
        "speed", Kokkos::RangePolicy<Exec>(exec, 0, v.extent(0)),
        KOKKOS_LAMBDA(std::size_t i, double& most) {
          double const speed = v(i) < 0 ? -v(i) : v(i);
          if (speed > most) most = speed;
        },
        Kokkos::Max<double, typename Part::memory_space>(part));
    Kokkos::parallel_for(
        "keep", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) {
          if (part() > fastest()) fastest() = part();
        });
  }
};

struct Choose {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Most, class Step, class Time>
  void operator()(Exec const&, Most fastest, Step dt, Time time) const {
    dt() = 0.1 / (1 + fastest());
    time() += dt();
    fastest() = 0;
  }
};

struct Move {
  template <class Exec, class Step, class X, class V>
  void operator()(Exec const& exec, Step dt, X x, V v) const {
    Kokkos::parallel_for(
        "move", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) {
          v(i) -= dt() * sin(x(i));
          x(i) += dt() * v(i);
        });
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
  Vector x("x", n), v("v", n);
  granary::Runtime runtime;

  // Assemble.
  std::vector<granary::Data<Vector>> xs, vs;
  for (std::size_t first = 0; first < n; first += block) {
    auto const range = std::pair(first, first + block);
    xs.push_back(runtime.data(Vector(Kokkos::subview(x, range))));
    vs.push_back(runtime.data(Vector(Kokkos::subview(v, range))));
    runtime.submit("start", Start{first}, write(xs.back()), write(vs.back()));
  }

  // Iterate.
  auto const fastest = runtime.scalar<double>("fastest");
  auto const dt = runtime.scalar<double>("dt");
  auto const time = runtime.scalar<double>("time");
  for (int step = 0; step < steps; ++step) {
    for (auto const& part : vs)
      runtime.submit("speed", Speed{}, read(part), reduce(fastest, granary::Maximum{}), granary::scratch<double>());
    runtime.submit("choose", Choose{}, read_write(fastest), write(dt), read_write(time));
    for (std::size_t b = 0; b < xs.size(); ++b)
      runtime.submit("move", Move{}, read(dt), read_write(xs[b]), read_write(vs[b]));
    if (step % 20 == 0) std::printf("step %d: time %.6f\n", step, time.get());
  }
  runtime.wait();

  // Write.
  std::FILE* const file = std::fopen("port_after.txt", "w");
  if (file == nullptr) return 1;
  for (std::size_t i = 0; i < n; i += 1000) std::fprintf(file, "%.9g\n", x(i));
  std::fclose(file);
  std::printf("time %.6f, last particle at %.6f\n", time.get(), x(n - 1));
}
