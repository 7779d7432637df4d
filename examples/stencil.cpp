// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heat diffusion in a box with periodic walls: a 7-point stencil on a grid that is larger than the memory limit. The
// grid is cut into slabs of planes. Each slab is a datum, each time step of a slab a task. Slabs that do not fit in the
// limit go to a scratch file. Argument: points along an edge, a multiple of 8 (default 64).
#include <granary/granary.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

constexpr std::size_t slabs = 8;
constexpr int steps = 5;
constexpr double c = 0.1;  // diffusivity * time step / spacing^2

using Grid = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Slab = granary::Temporary<Grid>;  // planes x n x n

KOKKOS_INLINE_FUNCTION double start_at(double z, double y, double x, double n) {
  double const step = 6.283185307179586 / n;
  return sin(step * x) * cos(2 * step * y) + 0.1 * z;
}

// The initial values of a slab whose first plane is plane `first` of the grid.
struct Start {
  std::size_t first;
  template <class Exec, class Out>
  void operator()(Exec const& exec, Out slab) const {
    int const planes = static_cast<int>(slab.extent(0)), n = static_cast<int>(slab.extent(1));
    auto const base = static_cast<double>(first);
    Kokkos::parallel_for(
        "start", Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3>>(exec, {0, 0, 0}, {planes, n, n}),
        KOKKOS_LAMBDA(int z, int y, int x) { slab(z, y, x) = start_at(base + z, y, x, n); });
  }
};

// [body]
// One time step of a slab. It reads the slab and its two neighbours and writes the slab's next values.
struct Heat {
  template <class Exec, class In, class Out>
  void operator()(Exec const& exec, In below, In here, In above, Out next) const {
    int const planes = static_cast<int>(here.extent(0)), n = static_cast<int>(here.extent(1));
    Kokkos::parallel_for(
        "heat", Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3>>(exec, {0, 0, 0}, {planes, n, n}),
        KOKKOS_LAMBDA(int z, int y, int x) {
          double const u = here(z, y, x);
          double const down = z > 0 ? here(z - 1, y, x) : below(planes - 1, y, x);
          double const up = z + 1 < planes ? here(z + 1, y, x) : above(0, y, x);
          double const sides = here(z, (y + n - 1) % n, x) + here(z, (y + 1) % n, x) + here(z, y, (x + n - 1) % n) +
                               here(z, y, (x + 1) % n);
          next(z, y, x) = u + c * (down + up + sides - 6 * u);
        });
  }
};
// [body]

// Copies a slab's values to the application.
struct Copy {
  template <class Exec, class In, class Out>
  void operator()(Exec const& exec, In slab, Out out) const {
    int const planes = static_cast<int>(slab.extent(0)), n = static_cast<int>(slab.extent(1));
    Kokkos::parallel_for(
        "copy", Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3>>(exec, {0, 0, 0}, {planes, n, n}),
        KOKKOS_LAMBDA(int z, int y, int x) { out(z, y, x) = slab(z, y, x); });
  }
};

Grid run_tasks(std::size_t n) {
  auto const planes = n / slabs;
  Grid result("result", n, n, n);
  // [steps]
  granary::Bytes const grid_bytes = n * n * n * sizeof(double);
  granary::Runtime runtime({.host_memory = grid_bytes});  // for two grids: the current one and the next one
  std::vector<Slab> now, next;
  for (std::size_t s = 0; s < slabs; ++s) {
    now.push_back(runtime.temporary<Grid>("slab", planes, n, n));
    next.push_back(runtime.temporary<Grid>("slab", planes, n, n));
    runtime.submit("start", Start{s * planes}, write(now[s]));
  }
  for (int step = 0; step < steps; ++step) {
    for (std::size_t s = 0; s < slabs; ++s) {
      auto const &below = now[(s + slabs - 1) % slabs], &above = now[(s + 1) % slabs];
      runtime.submit("heat", Heat{}, read(below), read(now[s]), read(above), write(next[s]));
    }
    std::swap(now, next);
  }
  // [steps]
  for (std::size_t s = 0; s < slabs; ++s) {
    Grid const part(Kokkos::subview(result, std::pair(s * planes, (s + 1) * planes), Kokkos::ALL, Kokkos::ALL));
    runtime.submit("copy", Copy{}, read(now[s]), write(runtime.data(part)));
  }
  runtime.wait();
  using granary::format_bytes;
  std::printf("two grids of %s in %s of memory: %s written to scratch, %s read back\n",
              format_bytes(grid_bytes).c_str(), format_bytes(runtime.figures().host_memory_peak).c_str(),
              format_bytes(runtime.figures().bytes_written).c_str(),
              format_bytes(runtime.figures().bytes_read).c_str());
  return result;
}

// The same without granary, in memory.
Grid run_plain(std::size_t n) {
  Grid now("now", n, n, n), next("next", n, n, n);
  auto const each_point = [n](auto const& function) {
    for (std::size_t z = 0; z < n; ++z) {
      for (std::size_t y = 0; y < n; ++y) {
        for (std::size_t x = 0; x < n; ++x) function(z, y, x);
      }
    }
  };
  each_point([&](std::size_t z, std::size_t y, std::size_t x) {
    now(z, y, x) =
        start_at(static_cast<double>(z), static_cast<double>(y), static_cast<double>(x), static_cast<double>(n));
  });
  for (int step = 0; step < steps; ++step) {
    each_point([&](std::size_t z, std::size_t y, std::size_t x) {
      double const around = now((z + n - 1) % n, y, x) + now((z + 1) % n, y, x) + now(z, (y + n - 1) % n, x) +
                            now(z, (y + 1) % n, x) + now(z, y, (x + n - 1) % n) + now(z, y, (x + 1) % n);
      next(z, y, x) = now(z, y, x) + c * (around - 6 * now(z, y, x));
    });
    std::swap(now, next);
  }
  return now;
}

int compare(std::size_t n) {
  auto const result = run_tasks(n);
  auto const expected = run_plain(n);
  double mean = 0;
  for (std::size_t i = 0; i < result.size(); ++i)
    mean += std::abs(result.data()[i] - expected.data()[i]) / static_cast<double>(result.size());
  std::printf("mean difference from the plain loop: %.2g\n", mean);
  return mean < 1e-12 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    std::size_t const n = argc > 1 ? std::stoul(argv[1]) : 64;
    if (n < slabs || n > 4096 || n % slabs != 0)
      throw granary::InvalidArgument("the number of points along an edge must be a multiple of 8, up to 4096");
    return compare(n);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "stencil: %s\n", error.what());
    return 2;
  }
}
