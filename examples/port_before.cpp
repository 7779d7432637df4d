// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program on plain Kokkos; port_after.cpp is the same program on granary, and docs/porting.md has both.
#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>

constexpr std::size_t n = 200'000;
constexpr int steps = 60;

// Particles in a wave. The fastest one limits each time step.
int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::View<double*> x("x", n), v("v", n);

  // Assemble.
  Kokkos::parallel_for(
      "start", n, KOKKOS_LAMBDA(int i) {
        x(i) = 2.0 * i / n;
        v(i) = x(i) - 1.0;
      });

  // Iterate.
  double time = 0;
  for (int step = 0; step < steps; ++step) {
    double fastest = 0;
    Kokkos::parallel_reduce(
        "speed", n,
        KOKKOS_LAMBDA(int i, double& most) {
          double const speed = v(i) < 0 ? -v(i) : v(i);
          if (speed > most) most = speed;
        },
        Kokkos::Max<double>(fastest));
    double const dt = 0.1 / (1 + fastest);
    time += dt;
    Kokkos::parallel_for(
        "move", n, KOKKOS_LAMBDA(int i) {
          v(i) -= dt * sin(x(i));
          x(i) += dt * v(i);
        });
    Kokkos::fence();
    if (step % 20 == 0) std::printf("step %d: time %.6f\n", step, time);
  }

  // Write.
  auto const result = Kokkos::create_mirror_view(x);
  Kokkos::deep_copy(result, x);
  std::FILE* const file = std::fopen("port_before.txt", "w");
  if (file == nullptr) return 1;
  for (std::size_t i = 0; i < n; i += 1000) std::fprintf(file, "%.9g\n", result(i));
  std::fclose(file);
  std::printf("time %.6f, last particle at %.6f\n", time, result(n - 1));
}
