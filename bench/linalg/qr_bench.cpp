// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// qr_bench --rows M --cols N: QR by tiles of a View, or with --r-only its triangle alone (qr_r), in turns with LAPACK's
// geqrf on as many threads. A line of JSON: medians over the repeats, ratios of each repeat, and ‖A - Q R‖ / (M ε ‖A‖)
// in the largest column; with --r-only ‖|r_j| - |s_j|‖ / (M ε ‖s_j‖) for the columns s_j of LAPACK's triangle.
#include "bench/support/measure.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/linalg/algorithms/qr.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/linalg.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

extern "C" void dgeqrf_(int const*, int const*, double*, int const*, double*, double*, int const*, int*);

namespace {

using namespace granary;
using namespace granary::detail;
using bench::median;
using bench::seconds_of;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

struct Bench {
  std::uint64_t rows = 2048, cols = 2048, tile = 256;
  std::int32_t inner_block = 32;
  QrTree tree;
  std::string top = "binary";
  std::string scheduler = "auto";
  bool r_only = false;
  int repeats = 5;
};

std::map<std::string, QrTree::Top> const tops{
    {"flat", QrTree::Top::Flat}, {"binary", QrTree::Top::Binary}, {"greedy", QrTree::Top::Greedy}};

struct Measured {
  double seconds = 0;
  double residual = 0;
  std::size_t workers = 0;
};

// The largest ‖a - b‖₂ / ‖b‖₂ of a column.
double largest_change(Matrix const& a, Matrix const& b) {
  double largest = 0;
  for (std::size_t j = 0; j < b.extent(1); ++j) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < b.extent(0); ++i) {
      difference += (a(i, j) - b(i, j)) * (a(i, j) - b(i, j));
      norm += b(i, j) * b(i, j);
    }
    largest = std::max(largest, std::sqrt(difference / norm));
  }
  return largest;
}

// The signs of rows may differ.
double difference_of_triangles(Matrix const& r, Matrix const& factors) {
  Matrix const ours("|R|", r.extent(0), r.extent(1)), theirs("|R| of LAPACK", r.extent(0), r.extent(1));
  for (std::size_t j = 0; j < r.extent(1); ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      ours(i, j) = std::abs(r(i, j));
      theirs(i, j) = std::abs(factors(i, j));
    }
  }
  return largest_change(ours, theirs) / (double(factors.extent(0)) * std::numeric_limits<double>::epsilon());
}

// Factors a copy of A, and multiplies Q with R again.
Measured measure_ours(Bench const& bench, Matrix const& a) {
  Matrix const factors("A", a.extent(0), a.extent(1)), back("Q R", a.extent(0), a.extent(1));
  Kokkos::deep_copy(factors, a);
  Runtime runtime({.scheduler = bench.scheduler, .devices = "none"});
  auto const tiles = add_view_matrix(runtime.session(), factors, bench.tile, MatrixPart::All);
  TaskEmitter tasks(runtime.submitter());
  QrOptions const options{.tree = bench.tree};
  auto const reflectors =
      make_temporary_reflectors<double>(runtime.submitter(), tiles.grid(), options.tree, bench.inner_block);
  Measured measured{.workers = runtime.statistics().workers.size()};
  measured.seconds = seconds_of([&] {
    geqrf(tasks, tiles, reflectors, options);
    runtime.wait();
  });
  for (std::size_t j = 0; j < a.extent(1); ++j) {
    for (std::size_t i = 0; i <= std::min(j, a.extent(0) - 1); ++i) back(i, j) = factors(i, j);
  }
  unmqr(tasks, Op::NoTrans, tiles, reflectors, add_view_matrix(runtime.session(), back, bench.tile, MatrixPart::All),
        options);
  runtime.wait();
  measured.residual = largest_change(back, a) / (double(a.extent(0)) * std::numeric_limits<double>::epsilon());
  return measured;
}

// R alone.
Measured measure_triangle(Bench const& bench, Matrix const& a, Matrix const& r) {
  Runtime runtime({.scheduler = bench.scheduler, .devices = "none"});
  Measured measured{.workers = runtime.statistics().workers.size()};
  measured.seconds = seconds_of([&] { qr_r(runtime, a, r, bench.tile); });
  return measured;
}

double measure_lapack(Matrix const& a, std::size_t workers, Matrix const& factors) {
  Kokkos::deep_copy(factors, a);
  int const m = static_cast<int>(a.extent(0)), n = static_cast<int>(a.extent(1)), asks = -1;
  std::vector<double> tau(static_cast<std::size_t>(std::min(m, n)));
  double wanted = 0;
  int info = 0;
  dgeqrf_(&m, &n, factors.data(), &m, tau.data(), &wanted, &asks, &info);
  std::vector<double> work(static_cast<std::size_t>(wanted));
  int const size = static_cast<int>(work.size());
  set_blas_threads(static_cast<int>(workers));
  return seconds_of([&] { dgeqrf_(&m, &n, factors.data(), &m, tau.data(), work.data(), &size, &info); });
}

nlohmann::ordered_json measure(Bench const& bench) {
  Matrix const a("A", bench.rows, bench.cols);
  Random random(1);
  for (std::size_t j = 0; j < bench.cols; ++j) {
    for (std::size_t i = 0; i < bench.rows; ++i) a(i, j) = random.uniform() - 0.5;
  }
  std::vector<double> ours, lapack, ratios;
  double residual = 0;
  std::size_t workers = 0;
  Matrix const factors("A of LAPACK", bench.rows, bench.cols), triangle("R", bench.cols, bench.cols);
  for (int r = 0; r < bench.repeats; ++r) {
    auto measured = bench.r_only ? measure_triangle(bench, a, triangle) : measure_ours(bench, a);
    workers = measured.workers;
    ours.push_back(measured.seconds);
    lapack.push_back(measure_lapack(a, workers, factors));
    if (bench.r_only) measured.residual = difference_of_triangles(triangle, factors);
    residual = std::max(residual, measured.residual);
    ratios.push_back(lapack.back() / ours.back());
  }
  double const m = double(bench.rows), n = double(bench.cols), k = std::min(m, n);
  double const flops = 4 * k * (m * n - k * (m + n) / 2 + k * k / 3);
  return {{"rows", bench.rows},
          {"cols", bench.cols},
          {"tile", bench.tile},
          {"inner_block", bench.inner_block},
          {"domain", bench.tree.domain},
          {"top", bench.top},
          {"scheduler", bench.scheduler},
          {"r_only", bench.r_only},
          {"blas", find_blas_library().id()},
          {"workers", workers},
          {"gflops", flops / median(ours) * 1e-9},
          {"lapack_gflops", flops / median(lapack) * 1e-9},
          {"speed_of_lapack", median(ratios)},
          {"residual", residual}};
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench;
  CLI::App app("QR by tiles, against LAPACK");
  app.add_option("--rows", bench.rows, "rows")->check(CLI::PositiveNumber);
  app.add_option("--cols", bench.cols, "columns")->check(CLI::PositiveNumber);
  app.add_option("--tile", bench.tile, "tile size")->check(CLI::PositiveNumber);
  app.add_option("--inner-block", bench.inner_block, "order of the triangles T");
  app.add_option("--domain", bench.tree.domain, "tile rows of a domain; 0: one domain");
  app.add_option("--top", bench.top, "tree over the domains: flat, binary or greedy")->check(CLI::IsMember(tops));
  app.add_option("--scheduler", bench.scheduler, "scheduler");
  app.add_flag("--r-only", bench.r_only, "R alone, of a tall matrix");
  app.add_option("--repeat", bench.repeats, "repeats")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  return granary::bench::exit_status("qr_bench", [&] {
    bench.tree.top = tops.at(bench.top);
    Kokkos::ScopeGuard const kokkos;
    std::printf("%s\n", measure(bench).dump().c_str());
  });
}
