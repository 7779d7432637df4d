// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inverse_bench --n N: the inverse after a Cholesky factorization, in turns with LAPACK's on as many threads, on a View
// and, with --memory, on tiles on the disk; and what else is asked of a factor, as shares of the factorization's time.
// A line of JSON: medians over the repeats, ratios of each repeat.
#include "bench/support/measure.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/linalg.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

extern "C" void dpotri_(char const*, int const*, double*, int const*, int*, std::size_t);

namespace {

using namespace granary;
using namespace granary::detail;
using bench::median;
using bench::seconds_of;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Bench {
  std::uint64_t n = 8192;
  std::string scheduler = "auto";
  std::string memory;
  TileSize tile;
  int repeats = 5;
};

using Times = std::map<std::string, std::vector<double>>;

// The calls on a positive definite A, which end with its inverse.
template <class A>
void measure_ours(Runtime& runtime, A const& a, Vector const& x, TileSize tile, Times& times,
                  std::string const& suffix) {
  auto const lower = Uplo::Lower;
  auto const timed = [&](char const* what, auto const& call) { times[what + suffix].push_back(seconds_of(call)); };
  double norm = 0;
  timed("lanhe", [&] { norm = lanhe(runtime, Norm::One, lower, a, tile); });
  timed("potrf", [&] { potrf(runtime, lower, a, tile); });
  timed("logdet", [&] { static_cast<void>(logdet(runtime, lower, a, tile)); });
  timed("diag", [&] { diag(runtime, a, x, tile); });
  timed("potrs", [&] { potrs(runtime, lower, a, x, tile); });
  timed("pocon", [&] { static_cast<void>(pocon(runtime, lower, a, norm, tile)); });
  timed("inverse_diag", [&] { inverse_diag(runtime, lower, a, x, tile); });
  timed("potri", [&] { potri(runtime, lower, a, tile); });
}

void measure_lapack(Matrix const& a, Times& times) {
  int const n = static_cast<int>(a.extent(0));
  int info = 0;
  times["lapack_potrf"].push_back(seconds_of([&] { info = blas::potrf(Uplo::Lower, n, a.data(), n); }));
  times["lapack_potri"].push_back(seconds_of([&] { dpotri_("L", &n, a.data(), &n, &info, 1); }));
}

// Half of the columns are enough to see a wrong inverse.
double difference(Matrix const& x, Matrix const& y) {
  double most = 0, largest = 0;
  for (std::size_t j = 0; j < x.extent(1); j += 2) {
    for (std::size_t i = j; i < x.extent(0); ++i) {
      most = std::max(most, std::abs(x(i, j) - y(i, j)));
      largest = std::max(largest, std::abs(y(i, j)));
    }
  }
  return most / largest;
}

nlohmann::ordered_json measure(Bench const& bench) {
  auto const n = bench.n;
  Matrix const start("start", n, n), ours("A", n, n), lapack("L", n, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) start(i, j) = spd_entry(n, 1, i, j);
  }
  Vector const x("x", n);
  Times times;
  std::size_t workers = 0;
  for (int r = 0; r < bench.repeats; ++r) {
    Kokkos::deep_copy(ours, start);
    Kokkos::deep_copy(lapack, start);
    {
      Runtime runtime({.scheduler = bench.scheduler});
      workers = runtime.statistics().workers.size();
      measure_ours(runtime, ours, x, bench.tile, times, "");
    }
    if (!bench.memory.empty()) {
      Runtime runtime({.scheduler = bench.scheduler, .host_memory = parse_bytes(bench.memory)});
      auto const a = open_matrix<double>(runtime, "random:" + std::to_string(n), "",
                                         {.part = MatrixPart::Lower, .tile = bench.tile.value_or(512)});
      measure_ours(runtime, a, x, bench.tile, times, "_disk");
    }
    set_blas_threads(static_cast<int>(workers));
    measure_lapack(lapack, times);
  }
  nlohmann::ordered_json line{{"n", n},
                              {"blas", find_blas_library().id()},
                              {"scheduler", bench.scheduler},
                              {"memory", bench.memory},
                              {"workers", workers}};
  for (auto const& [what, seconds] : times) line[what + "_seconds"] = median(seconds);
  auto const ratio = [&](std::string const& name, std::string const& of, std::string const& to) {
    std::vector<double> ratios;
    for (int r = 0; r < bench.repeats; ++r)
      ratios.push_back(times.at(of)[std::size_t(r)] / times.at(to)[std::size_t(r)]);
    line[name] = median(ratios);
  };
  ratio("potri_speed_of_lapack", "lapack_potri", "potri");
  for (auto const* const what : {"logdet", "diag", "potrs", "pocon", "inverse_diag"}) {
    ratio(std::string(what) + "_share_of_potrf", what, "potrf");
  }
  if (!bench.memory.empty()) {
    ratio("potri_disk_speed_of_memory", "potri", "potri_disk");
    for (auto const* const what : {"logdet", "diag", "potrs", "pocon", "inverse_diag"}) {
      ratio(std::string(what) + "_disk_share_of_potrf", what + std::string("_disk"), "potrf_disk");
    }
  }
  line["difference"] = difference(ours, lapack);
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench;
  CLI::App app("The inverse from a Cholesky factor, against LAPACK");
  app.add_option("--n", bench.n, "order");
  app.add_option("--tile", bench.tile, "tile size; default: what calls choose, 512 on the disk");
  app.add_option("--memory", bench.memory, "also with this memory limit and the matrix on the disk, as in 100MB");
  app.add_option("--scheduler", bench.scheduler, "scheduler");
  app.add_option("--repeat", bench.repeats, "repeats");
  CLI11_PARSE(app, argc, argv);
  return granary::bench::exit_status("inverse_bench", [&] {
    Kokkos::ScopeGuard const kokkos;
    std::printf("%s\n", measure(bench).dump().c_str());
  });
}
