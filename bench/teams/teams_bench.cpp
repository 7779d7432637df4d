// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seconds per call of bodies that use a team of cores: called on a plain instance of Kokkos, or as tasks on workers of
// as many cores. bench/teams/teams.py runs both and compares.
#include <granary/granary.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

// Limited by memory.
struct Axpy {
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    Kokkos::parallel_for(
        "axpy", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { y(i) += 1e-3 * x(i); });
  }
};

// Limited by arithmetic.
struct Polynomial {
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    Kokkos::parallel_for(
        "polynomial", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) {
          double value = y(i);
          for (int k = 0; k < 200; ++k) value = value * x(i) + 1e-3;
          y(i) = value;
        });
  }
};

// Launches: many short kernels in one body.
struct Launches {
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    for (int k = 0; k < 200; ++k) Axpy{}(exec, x, y);
  }
};

struct Multiply {
  template <class Exec, class A, class Y>
  void operator()(Exec const& exec, A a, Y y) const {
    using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
    Kokkos::parallel_for(
        "multiply", Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(a.extent(0)), Kokkos::AUTO),
        KOKKOS_LAMBDA(Team const& team) {
          auto const row = team.league_rank();
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, a.extent(1)), [&](int j, double& s) { s += a(row, j); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] { y(row) += sum; });
        });
  }
};

constexpr int calls = 20;  // per measurement

struct Figures {
  double median;
  double least;
};

Figures measure(int rounds, std::function<void()> const& run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  run();
  for (int round = 0; round < rounds; ++round) {
    auto const start = Clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count() / calls);
  }
  std::ranges::sort(seconds);
  return {seconds[seconds.size() / 2], seconds.front()};
}

template <class Body, class X>
void compare(std::string const& name, Body const& body, X x, Vector y, granary::Runtime* runtime, int rounds) {
  Figures figures{};
  if (runtime == nullptr) {
    granary::detail::TeamExecutionSpace const exec;
    figures = measure(rounds, [&] {
      for (int i = 0; i < calls; ++i) body(exec, x, y);
      exec.fence();
    });
  } else {
    auto const dx = runtime->data(x);
    auto const dy = runtime->data(y);
    figures = measure(rounds, [&] {
      for (int i = 0; i < calls; ++i) runtime->submit(name, body, read(dx), read_write(dy));
      runtime->wait();
    });
  }
  fmt::print("{},{:.4g},{:.4g}\n", name, figures.median, figures.least);
}

void run(granary::Runtime* runtime, int rounds) {
  fmt::print("body,median_s,least_s\n");
  std::size_t const large = 4'000'000, small = 20'000, rows = 2000;
  Vector x("x", large), y("y", large), u("u", small), v("v", small), z("z", rows);
  Matrix a("A", rows, rows);
  Kokkos::deep_copy(x, 0.5);
  Kokkos::deep_copy(u, 0.5);
  Kokkos::deep_copy(a, 1.0);
  compare("axpy", Axpy{}, x, y, runtime, rounds);
  compare("polynomial", Polynomial{}, u, v, runtime, rounds);
  compare("launches", Launches{}, u, v, runtime, rounds);
  compare("multiply", Multiply{}, a, z, runtime, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  int cores = 2, rounds = 50;
  bool plain = false;
  CLI::App app("Bodies that use a team of cores, as tasks or called on Kokkos alone.", "teams_bench");
  app.add_option("--cores", cores, "cores of the team")->capture_default_str();
  app.add_option("--rounds", rounds, "measurements of each body")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("--plain", plain, "Kokkos alone");
  CLI11_PARSE(app, argc, argv);
  int no_arguments = 1;
  Kokkos::ScopeGuard const kokkos(no_arguments, argv);
  if (plain) {
    run(nullptr, rounds);
    return 0;
  }
  granary::Runtime runtime({.scheduler = "eager",
                            .workers = 1,
                            .cores_per_worker = static_cast<unsigned>(cores),
                            .devices = "none",
                            .models = granary::models_off});
  run(&runtime, rounds);
  return 0;
}
