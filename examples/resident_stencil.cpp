// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heat diffusion on a ring whose points stay in the memories of devices. Each device has a segment with a halo of one
// point at both ends. A task computes the next values of a part of a segment; small tasks copy the ends of the segments
// to the halos of their neighbours. The bodies launch Kokkos kernels; with Kokkos 4 and later they overlap on the host.
// Arguments: devices (default: the GPUs, or host:2, two emulated ones), points of a part (default 524288).
#include <granary/granary.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

constexpr std::size_t parts = 4;  // of a segment
constexpr int steps = 20;

KOKKOS_INLINE_FUNCTION double next_at(double left, double here, double right) { return (left + 2 * here + right) / 4; }

struct Copy {
  template <class Exec, class From, class To>
  void operator()(Exec const& exec, From from, To to) const {
    Kokkos::parallel_for(
        "copy", Kokkos::RangePolicy<Exec>(exec, 0, to.extent(0)), KOKKOS_LAMBDA(std::size_t i) { to(i) = from(i); });
  }
};
struct Heat {  // `u` has one point more than `next` at both ends
  template <class Exec, class U, class Next>
  void operator()(Exec const& exec, U u, Next next) const {
    Kokkos::parallel_for(
        "heat", Kokkos::RangePolicy<Exec>(exec, 0, next.extent(0)),
        KOKKOS_LAMBDA(std::size_t i) { next(i) = next_at(u(i), u(i + 1), u(i + 2)); });
  }
};

using Points = Kokkos::View<double*, Kokkos::HostSpace>;

// Both functions set the points `u` to their values after the last step, and return the seconds of the steps.
double run_tasks(granary::Runtime& runtime, Points const& u) {
  std::size_t const devices = runtime.figures().devices.size(), n = u.extent(0) / devices, size = n / parts;
  auto const segment = [&](std::size_t device) {
    return runtime.data(runtime.device_view<double*>(device, "segment", n + 2));
  };
  auto const range = [](std::size_t first, std::size_t count) { return std::pair(first, first + count); };
  auto const points = runtime.data(u);
  std::vector<decltype(segment(0))> now, next;
  for (std::size_t d = 0; d < devices; ++d) {
    now.push_back(segment(d));
    next.push_back(segment(d));
    runtime.submit("in", Copy{}, read(runtime.part(points, range(d * n, n))), write(runtime.part(now[d], range(1, n))));
  }
  runtime.wait();
  Kokkos::Timer const timer;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t d = 0; d < devices; ++d) {
      auto const &left = now[(d + devices - 1) % devices], &right = now[(d + 1) % devices];
      runtime.submit("halo", Copy{}, read(runtime.part(left, range(n, 1))), write(runtime.part(now[d], range(0, 1))));
      runtime.submit("halo", Copy{}, read(runtime.part(right, range(1, 1))),
                     write(runtime.part(now[d], range(n + 1, 1))));
    }
    for (std::size_t d = 0; d < devices; ++d) {
      for (std::size_t p = 0; p < parts; ++p) {
        runtime.submit("heat", Heat{}, read(runtime.part(now[d], range(p * size, size + 2))),
                       write(runtime.part(next[d], range(1 + p * size, size))));
      }
    }
    std::swap(now, next);
  }
  runtime.wait();
  double const seconds = timer.seconds();
  for (std::size_t d = 0; d < devices; ++d)
    runtime.submit("out", Copy{}, read(runtime.part(now[d], range(1, n))),
                   write(runtime.part(points, range(d * n, n))));
  runtime.wait();
  return seconds;
}

double run_plain(Points const& u) {
  std::size_t const n = u.extent(0);
  Kokkos::View<double*> now("now", n), next("next", n);
  Kokkos::deep_copy(now, u);
  Kokkos::Timer const timer;
  for (int step = 0; step < steps; ++step) {
    Kokkos::parallel_for(
        "heat", n, KOKKOS_LAMBDA(std::size_t i) {
          next(i) = next_at(now(i > 0 ? i - 1 : n - 1), now(i), now(i + 1 < n ? i + 1 : 0));
        });
    std::swap(now, next);
  }
  Kokkos::fence();
  double const seconds = timer.seconds();
  Kokkos::deep_copy(u, now);
  return seconds;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using namespace granary::literals;
  std::string const devices = argc > 1 ? argv[1] : granary::has_device_space ? "all" : "host:2";
  // dmda runs a task where its data are, unless waiting there takes longer than moving them.
  granary::Bytes const emulated_link = devices.starts_with("host:") ? 1_GiB : 0;
  granary::Runtime runtime(
      {.scheduler = "dmda", .workers = 0, .devices = devices, .link_bytes_per_second = emulated_link});
  std::size_t const n = runtime.figures().devices.size() * parts * (argc > 2 ? std::stoul(argv[2]) : 524288);
  Points const u("u", n), expected("expected", n);
  for (std::size_t i = 0; i < n; ++i) u(i) = expected(i) = static_cast<double>(i % 100);
  double const time = run_tasks(runtime, u), plain = run_plain(expected);
  double error = 0;
  for (std::size_t i = 0; i < n; ++i) error += std::abs(u(i) - expected(i)) / static_cast<double>(n);
  auto const traffic = runtime.figures().device_traffic;
  std::printf("mean difference %.1e; %s between devices; granary %.3f s, Kokkos %.3f s, ratio %.2f\n", error,
              granary::format_bytes(traffic.between).c_str(), time, plain, time / plain);
  return error < 1e-12 ? 0 : 1;
}
