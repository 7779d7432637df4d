// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// incore_bench N double|float SCHEDULER REPEATS TILE...: potrf on a host View and LAPACK's potrf with as many threads,
// in turns, the best of each; a line of JSON per tile size. bench/cholesky/in_core.py makes a CSV of it.
#include <granary/core/backends/blas_threads.hpp>
#include <granary/linalg/files/spd_generator.hpp>
#include <granary/linalg/kernels/blas.hpp>
#include <granary/linalg/linalg.hpp>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

using namespace granary;

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

struct Case {
  std::uint64_t n;
  std::string scheduler;
  int repeats;
  std::uint64_t tile;
};

template <class Function>
double seconds_of(Function&& function) {
  auto const start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
double residual_of(std::string const& scheduler, Matrix<T> const& a, Matrix<T> const& l, std::uint64_t tile) {
  Runtime runtime(RuntimeOptions{.scheduler = scheduler});
  auto tiles_a = add_view_matrix(runtime, a, tile, MatrixPart::Lower);
  auto tiles_l = add_view_matrix(runtime, l, tile, MatrixPart::Lower);
  return residual(runtime, tiles_a, tiles_l);
}

template <class T>
void measure(Case const& bench) {
  auto const n = static_cast<int>(bench.n);
  Matrix<T> a("A", bench.n, bench.n);
  Matrix<T> tiled("tiled", bench.n, bench.n);
  Matrix<T> lapack("lapack", bench.n, bench.n);
  for (std::uint64_t j = 0; j < bench.n; ++j) {
    for (std::uint64_t i = 0; i < bench.n; ++i) a(i, j) = static_cast<T>(spd_entry(bench.n, 1, i, j));
  }
  double tiled_seconds = 1e9;
  double lapack_seconds = 1e9;
  std::size_t workers = 0;
  for (int r = 0; r < bench.repeats; ++r) {
    Kokkos::deep_copy(tiled, a);
    Kokkos::deep_copy(lapack, a);
    {
      Runtime runtime(RuntimeOptions{.scheduler = bench.scheduler});
      workers = runtime.statistics().workers.size();
      tiled_seconds = std::min(tiled_seconds, seconds_of([&] { potrf(runtime, Uplo::Lower, tiled, bench.tile); }));
    }
    set_blas_threads(static_cast<int>(workers));
    lapack_seconds = std::min(lapack_seconds, seconds_of([&] {
                                if (blas::potrf(Uplo::Lower, n, lapack.data(), n) != 0)
                                  throw std::runtime_error("LAPACK failed");
                              }));
  }
  double const gflop = cholesky_flops(bench.n) * 1e-9;
  nlohmann::ordered_json const line{{"n", bench.n},
                                    {"precision", name_of(scalar_type_of<T>)},
                                    {"tile", bench.tile},
                                    {"scheduler", bench.scheduler},
                                    {"workers", workers},
                                    {"granary_gflops", gflop / tiled_seconds},
                                    {"lapack_gflops", gflop / lapack_seconds},
                                    {"ratio", lapack_seconds / tiled_seconds},
                                    {"residual", residual_of(bench.scheduler, a, tiled, bench.tile)},
                                    {"lapack_residual", residual_of(bench.scheduler, a, lapack, bench.tile)}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: incore_bench N double|float SCHEDULER REPEATS TILE...\n");
    return 2;
  }
  Kokkos::initialize();
  for (int t = 5; t < argc; ++t) {
    Case const bench{std::strtoull(argv[1], nullptr, 10), argv[3], std::atoi(argv[4]),
                     std::strtoull(argv[t], nullptr, 10)};
    std::string(argv[2]) == "float" ? measure<float>(bench) : measure<double>(bench);
  }
  Kokkos::finalize();
  return 0;
}
