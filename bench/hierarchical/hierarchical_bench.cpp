// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hierarchical_bench cholesky|lu N B b[,b...] REPEATS WORKERS [SCHEDULER]: factors a host View in double precision with
// tile size B, without and with finer graphs of sub-tile size b, alternating in one process. Prints a line of JSON per
// inner tile size. bench/hierarchical/hierarchical.py makes a CSV of it.
#include "bench/support/warnings.hpp"

#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace granary;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

struct Bench {
  bool lu;
  std::uint64_t n;
  std::uint64_t tile;
  std::vector<std::int32_t> inner;  // 0 first: none
  int repeats;
  RuntimeOptions runtime;
};

struct Sample {
  double seconds;
  double busy;  // fraction of the workers' time in kernels
  std::uint64_t inner_tasks;
};

// Symmetric and diagonally dominant: both factorizations are stable without pivoting.
Matrix make_matrix(std::uint64_t n) {
  Matrix a("A", n, n);
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < n; ++i) a(i, j) = 1.0 / (1.0 + std::abs(double(i) - double(j)));
    a(j, j) += 2 * std::log(double(n)) + 2;
  }
  return a;
}

Sample factor(Bench const& bench, Matrix const& a, std::int32_t inner) {
  Runtime runtime(bench.runtime);
  auto const start = std::chrono::steady_clock::now();
  auto tiles = add_view_matrix(runtime.session(), a, bench.tile, bench.lu ? MatrixPart::All : MatrixPart::Lower);
  TaskEmitter tasks(runtime.submitter());
  tasks.set_inner_tile(inner);
  bench.lu ? getrf_nopiv(tasks, tiles) : potrf(tasks, tiles);
  tiles.release(runtime.submitter());
  runtime.wait();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  Sample sample{took.count(), 0, 0};
  auto const workers = runtime.statistics().workers;
  for (auto const& worker : workers) {
    sample.inner_tasks += worker.inner_tasks;
    sample.busy += seconds(worker.busy) / (took.count() * double(workers.size()));
  }
  return sample;
}

double largest_difference(Bench const& bench, Matrix const& x, Matrix const& y) {
  double largest = 0;
  for (std::uint64_t j = 0; j < bench.n; ++j) {
    for (std::uint64_t i = bench.lu ? 0 : j; i < bench.n; ++i) largest = std::max(largest, std::abs(x(i, j) - y(i, j)));
  }
  return largest;
}

void measure(Bench const& bench) {
  auto const a = make_matrix(bench.n);
  Matrix work("work", bench.n, bench.n), whole("whole", bench.n, bench.n);
  std::map<std::int32_t, std::vector<double>> seconds;
  std::map<std::int32_t, std::uint64_t> inner_tasks;
  std::map<std::int32_t, double> difference, busy;
  for (int r = -1; r < bench.repeats; ++r) {  // the first round warms up
    for (auto const inner : bench.inner) {
      Kokkos::deep_copy(work, a);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));  // lets the processor recover from the previous run
      auto const sample = factor(bench, work, inner);
      if (inner == 0) Kokkos::deep_copy(whole, work);
      difference[inner] = largest_difference(bench, work, whole);
      inner_tasks[inner] = sample.inner_tasks;
      busy[inner] = sample.busy;
      if (r >= 0) seconds[inner].push_back(sample.seconds);
    }
  }
  auto const cube = double(bench.n) * double(bench.n) * double(bench.n);
  double const gflop = (bench.lu ? 2 : 1) * cube / 3 * 1e-9;
  for (auto const inner : bench.inner) {
    auto& sorted = seconds[inner];
    std::ranges::sort(sorted);
    auto const median = sorted[sorted.size() / 2];
    nlohmann::ordered_json const line{{"algorithm", bench.lu ? "lu" : "cholesky"},
                                      {"n", bench.n},
                                      {"tile", bench.tile},
                                      {"inner_tile", inner},
                                      {"workers", *bench.runtime.workers},
                                      {"runs", sorted.size()},
                                      {"best_gflops", gflop / sorted.front()},
                                      {"median_gflops", gflop / median},
                                      {"best_gain", seconds[0].front() / sorted.front()},
                                      {"median_gain", seconds[0][seconds[0].size() / 2] / median},
                                      {"inner_tasks", inner_tasks[inner]},
                                      {"busy", busy[inner]},
                                      {"difference", difference[inner]}};
    std::printf("%s\n", line.dump().c_str());
  }
  std::fflush(stdout);
}

Bench parse(int argc, char** argv) {
  std::string const algorithm = argv[1];
  if (algorithm != "cholesky" && algorithm != "lu") throw std::invalid_argument("unknown algorithm " + algorithm);
  Bench bench{algorithm == "lu", std::stoull(argv[2]), std::stoull(argv[3]), {0}, std::stoi(argv[5]), {}};
  std::stringstream list(argv[4]);
  for (std::string inner; std::getline(list, inner, ',');) bench.inner.push_back(std::stoi(inner));
  bench.runtime.workers = static_cast<unsigned>(std::stoul(argv[6]));
  if (argc > 7) bench.runtime.scheduler = argv[7];
  return bench;
}

}  // namespace

int main(int argc, char** argv) {
  granary::bench::warn_on_standard_error();
  if (argc < 7) {
    std::fprintf(stderr, "usage: hierarchical_bench cholesky|lu N B b[,b...] REPEATS WORKERS [SCHEDULER]\n");
    return 2;
  }
  Kokkos::initialize();
  int code = 0;
  try {
    measure(parse(argc, argv));
  } catch (std::exception const& error) {
    std::fprintf(stderr, "hierarchical_bench: %s\n", error.what());
    code = 1;
  }
  Kokkos::finalize();
  return code;
}
