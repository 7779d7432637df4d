// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gaussian process regressions, with and without barriers: the application's tasks assemble a covariance matrix tile by
// tile, posv solves with it, and the application's tasks predict values. With barriers each of these steps is waited
// for; without, all systems are submitted and then waited for. Pairs of runs alternate; the ratio of their times is a
// median. The trace shows how many systems are under way at a time.
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/support/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;
using bench::median;
using Points = Kokkos::View<double*, Kokkos::HostSpace>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

struct OnCores {
  static constexpr bool launches_kokkos_kernels = false;
};
template <class M>
double point(std::size_t number, M const& means) {
  return (static_cast<double>(number) + 0.5) / static_cast<double>(means.extent(0));
}
double covariance(double x, double y) { return std::exp(-10 * (x - y) * (x - y)); }

// A tile of the covariance matrix, with noise on the diagonal.
struct Assemble : OnCores {
  std::size_t row, col;
  template <class Exec, class X, class K>
  void operator()(Exec const&, X x, K k) const {
    for (std::size_t j = 0; j < k.extent(1); ++j) {
      for (std::size_t i = 0; i < k.extent(0); ++i) {
        k(i, j) = covariance(x(row + i), x(col + j)) + (row + i == col + j ? 0.1 : 0.0);
      }
    }
  }
};
// Adds the part of a tile of weights to the predictions at points from 0 to 1.
struct Predict : OnCores {
  std::size_t row;
  template <class Exec, class X, class W, class M>
  void operator()(Exec const&, X x, W w, M means) const {
    for (std::size_t p = 0; p < means.extent(0); ++p) {
      for (std::size_t i = 0; i < w.extent(0); ++i) means(p) += covariance(point(p, means), x(row + i)) * w(i, 0);
    }
  }
};

struct Case {
  std::uint64_t systems = 16, n = 1024, tile = 128, predictions = 512;
  unsigned workers = 2, repeats = 9;
  std::string csv;
};

struct System {
  System(std::uint64_t number, std::uint64_t n, std::uint64_t predictions)
      : points(fmt::format("points {}", number), n),
        k(fmt::format("K{}", number), n, n),
        b(fmt::format("b{}", number), n, 1),
        means(fmt::format("means {}", number), predictions) {
    Random random(number + 1);
    for (std::size_t i = 0; i < n; ++i) {
      points(i) = random.uniform();
      k(i, i) = 1;
      b(i, 0) = std::sin(6 * points(i));
    }
  }
  Points points;
  Matrix k, b;
  Points means;
};

auto part(Runtime& runtime, Matrix const& view, TileGrid const& grid, std::uint64_t i, std::uint64_t j) {
  auto const range = [&](std::uint64_t number, std::uint64_t count) {
    return std::pair(static_cast<std::size_t>(grid.first(number)),
                     static_cast<std::size_t>(grid.first(number) + count));
  };
  return runtime.data(Kokkos::subview(view, range(i, grid.rows_in(i)), range(j, grid.cols_in(j))),
                      tile_name(view.label(), i, j));
}

// Submits a regression; `barrier()` follows each step.
template <class Barrier>
void regress(Runtime& runtime, System const& system, std::uint64_t tile, Barrier&& barrier) {
  auto const n = system.k.extent(0);
  TileGrid const grid{n, n, tile}, column{n, 1, tile};
  auto const x = runtime.data(system.points);
  for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      runtime.submit("assemble", Assemble{{}, grid.first(i), grid.first(j)}, read(x),
                     write(part(runtime, system.k, grid, i, j)));
    }
  }
  barrier();
  async::posv(runtime, Uplo::Lower, system.k, system.b, tile);
  barrier();
  auto const means = runtime.data(system.means);
  for (std::uint64_t i = 0; i < column.tile_rows(); ++i) {
    runtime.submit("predict", Predict{{}, column.first(i)}, read(x), read(part(runtime, system.b, column, i, 0)),
                   read_write(means));
  }
  barrier();
}

struct Run {
  double seconds = 0;
  double in_flight = 0;  // systems, on average over the time
};

// From the first to the last task on its matrices, by the names of these.
double systems_in_flight(Trace const& trace) {
  struct Span {
    Instant begin = Instant::max(), end{};
  };
  std::map<std::string, Span> spans;
  Span all;
  for (auto const& task : trace.tasks) {
    auto const& name = trace.data.at(task.data).name;
    if (name[0] != 'K' && name[0] != 'b') continue;
    for (auto* const span : {&spans[name.substr(1, name.find('(') - 1)], &all}) {
      span->begin = std::min(span->begin, task.begin);
      span->end = std::max(span->end, task.end);
    }
  }
  double open = 0;
  for (auto const& [name, span] : spans) open += seconds(span.end - span.begin);
  return open / seconds(all.end - all.begin);
}

Run measure(Case const& bench, bool barriers) {
  std::vector<System> systems;
  for (std::uint64_t s = 0; s < bench.systems; ++s) systems.emplace_back(s, bench.n, bench.predictions);
  Runtime runtime({.workers = bench.workers, .devices = "none", .record_trace = true});
  auto const took = bench::seconds_of([&] {
    for (auto const& system : systems) {
      regress(runtime, system, bench.tile, [&] {
        if (barriers) runtime.wait();
      });
    }
    runtime.wait();
  });
  Run run{took, systems_in_flight(runtime.trace())};
  for (auto const& [points, k, b, means] : systems) {
    for (std::size_t p = 0; p < means.extent(0); ++p) {
      if (std::abs(means(p) - std::sin(6 * point(p, means))) > 0.05) throw std::runtime_error("a prediction is wrong");
    }
  }
  return run;
}

void compare(Case const& bench) {
  std::vector<double> with, without, ratios, flights_with, flights_without;
  for (unsigned r = 0; r < bench.repeats; ++r) {
    auto const stepwise = measure(bench, true), at_once = measure(bench, false);
    with.push_back(stepwise.seconds);
    without.push_back(at_once.seconds);
    ratios.push_back(at_once.seconds / stepwise.seconds);
    flights_with.push_back(stepwise.in_flight);
    flights_without.push_back(at_once.in_flight);
  }
  auto const [least, most] = std::ranges::minmax(ratios);
  std::string const head =
      "systems,n,tile,predictions,workers,pairs,barriers_s,without_s,ratio,least_ratio,largest_ratio,in_flight_"
      "barriers,in_flight_"
      "without\n";
  auto const line =
      fmt::format("{},{},{},{},{},{},{:.4f},{:.4f},{:.3f},{:.3f},{:.3f},{:.2f},{:.2f}\n", bench.systems, bench.n,
                  bench.tile, bench.predictions, bench.workers, bench.repeats, median(with), median(without),
                  median(ratios), least, most, median(flights_with), median(flights_without));
  fmt::print("{}{}", head, line);
  bench::CsvFile(bench.csv, head + line);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Solves without a barrier between them");
  Case bench;
  app.add_option("--systems", bench.systems)->check(CLI::Range(1, 1000));
  app.add_option("--n", bench.n);
  app.add_option("--tile", bench.tile);
  app.add_option("--predictions", bench.predictions, "of each system");
  app.add_option("--workers", bench.workers);
  app.add_option("--repeats", bench.repeats, "pairs of runs")->check(CLI::Range(1, 1000));
  app.add_option("--csv", bench.csv, "file for the figures");
  CLI11_PARSE(app, argc, argv);
  return bench::exit_status("async_bench", [&] {
    Kokkos::ScopeGuard const kokkos;
    compare(bench);
  });
}
