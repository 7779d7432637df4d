// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// incore_bench OPERATION N double|float SCHEDULER REPEATS TILE...: times an operation on host Views with each tile size
// and LAPACK's with as many threads, in turns; a line of JSON per tile size: the medians of both, and of the ratios of
// each pair, and the part of the workers' time in kernels. TILE is auto, what the call chooses; N; N/INNER, where tasks
// may run as finer graphs; or NxSTACK, tiles in a task. bench/linalg/in_core.py makes a CSV of it. OPERATION is potrf,
// getrf_nopiv (LAPACK: getrf), getrf, posv, gesv, geqrf or gels; solves have 16 right-hand sides.
#include "bench/support/measure.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/linalg.hpp>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
void dposv_(char const*, int const*, int const*, double*, int const*, double*, int const*, int*, std::size_t);
void sposv_(char const*, int const*, int const*, float*, int const*, float*, int const*, int*, std::size_t);
void dgesv_(int const*, int const*, double*, int const*, int*, double*, int const*, int*);
void sgesv_(int const*, int const*, float*, int const*, int*, float*, int const*, int*);
void dgeqrf_(int const*, int const*, double*, int const*, double*, double*, int const*, int*);
void sgeqrf_(int const*, int const*, float*, int const*, float*, float*, int const*, int*);
void dgels_(char const*, int const*, int const*, int const*, double*, int const*, double*, int const*, double*,
            int const*, int*, std::size_t);
void sgels_(char const*, int const*, int const*, int const*, float*, int const*, float*, int const*, float*, int const*,
            int*, std::size_t);
}

namespace {

using namespace granary;
using namespace granary::detail;

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

constexpr int right_hand_sides = 16;

void lapack_posv(int n, double* a, double* b, int* info) { dposv_("L", &n, &right_hand_sides, a, &n, b, &n, info, 1); }
void lapack_posv(int n, float* a, float* b, int* info) { sposv_("L", &n, &right_hand_sides, a, &n, b, &n, info, 1); }
void lapack_gesv(int n, double* a, int* pivots, double* b, int* info) {
  dgesv_(&n, &right_hand_sides, a, &n, pivots, b, &n, info);
}
void lapack_gesv(int n, float* a, int* pivots, float* b, int* info) {
  sgesv_(&n, &right_hand_sides, a, &n, pivots, b, &n, info);
}
void lapack_geqrf(int n, double* a, double* tau, double* work, int size, int* info) {
  dgeqrf_(&n, &n, a, &n, tau, work, &size, info);
}
void lapack_geqrf(int n, float* a, float* tau, float* work, int size, int* info) {
  sgeqrf_(&n, &n, a, &n, tau, work, &size, info);
}
void lapack_gels(int n, double* a, double* b, double* work, int size, int* info) {
  dgels_("N", &n, &n, &right_hand_sides, a, &n, b, &n, work, &size, info, 1);
}
void lapack_gels(int n, float* a, float* b, float* work, int size, int* info) {
  sgels_("N", &n, &n, &right_hand_sides, a, &n, b, &n, work, &size, info, 1);
}

// The matrix that an operation overwrites, and its right-hand sides.
template <class T>
struct Operands {
  Matrix<T> a;
  Matrix<T> b;
};

struct Tiles {
  TileSize outer;           // none: what calls choose
  std::int32_t inner = 0;   // 0: tasks are not divided
  std::uint64_t stack = 0;  // 0: what calls choose
};

CholeskyOptions cholesky(Tiles const& tiles) { return {.stack = tiles.stack, .inner_tile = tiles.inner}; }
LuOptions lu(Tiles const& tiles) {
  auto options = chosen_leaf();
  options.inner_tile = tiles.inner;
  options.stack = tiles.stack;
  return options;
}

template <class T>
struct Operation {
  bool symmetric;
  double flops_per_cube;
  void (*ours)(Runtime&, Operands<T> const&, Tiles const&);
  int (*lapack)(int n, Operands<T> const&);
};

template <class T>
int lapack_potrf(int n, Operands<T> const& x) {
  return blas::potrf(Uplo::Lower, n, x.a.data(), n);
}
template <class T>
int lapack_getrf(int n, Operands<T> const& x) {
  std::vector<int> pivots(static_cast<std::size_t>(n));
  return blas::getrf(n, n, x.a.data(), n, pivots.data());
}

template <class T>
std::map<std::string, Operation<T>> operations() {
  using X = Operands<T>;
  auto const posv_of_lapack = [](int n, X const& x) {
    int info = 0;
    lapack_posv(n, x.a.data(), x.b.data(), &info);
    return info;
  };
  auto const gesv_of_lapack = [](int n, X const& x) {
    std::vector<int> pivots(static_cast<std::size_t>(n));
    int info = 0;
    lapack_gesv(n, x.a.data(), pivots.data(), x.b.data(), &info);
    return info;
  };
  auto const geqrf_of_lapack = [](int n, X const& x) {
    T wanted{};
    int info = 0;
    std::vector<T> tau(static_cast<std::size_t>(n));
    lapack_geqrf(n, x.a.data(), tau.data(), &wanted, -1, &info);
    std::vector<T> work(static_cast<std::size_t>(wanted));
    lapack_geqrf(n, x.a.data(), tau.data(), work.data(), static_cast<int>(work.size()), &info);
    return info;
  };
  auto const gels_of_lapack = [](int n, X const& x) {
    T wanted{};
    int info = 0;
    lapack_gels(n, x.a.data(), x.b.data(), &wanted, -1, &info);
    std::vector<T> work(static_cast<std::size_t>(wanted));
    lapack_gels(n, x.a.data(), x.b.data(), work.data(), static_cast<int>(work.size()), &info);
    return info;
  };
  return {
      {"potrf",
       {true, 1.0 / 3, [](Runtime& r, X const& x, Tiles const& t) { potrf(r, Uplo::Lower, x.a, t.outer, cholesky(t)); },
        lapack_potrf<T>}},
      {"getrf_nopiv",
       {false, 2.0 / 3,
        [](Runtime& r, X const& x, Tiles const& t) { getrf_nopiv(r, x.a, t.outer, {.inner_tile = t.inner}); },
        lapack_getrf<T>}},
      {"getrf",
       {false, 2.0 / 3,
        [](Runtime& r, X const& x, Tiles const& t) { static_cast<void>(getrf(r, x.a, t.outer, lu(t))); },
        lapack_getrf<T>}},
      {"posv",
       {true, 1.0 / 3,
        [](Runtime& r, X const& x, Tiles const& t) { posv(r, Uplo::Lower, x.a, x.b, t.outer, cholesky(t)); },
        posv_of_lapack}},
      {"gesv",
       {false, 2.0 / 3,
        [](Runtime& r, X const& x, Tiles const& t) { static_cast<void>(gesv(r, x.a, x.b, t.outer, lu(t))); },
        gesv_of_lapack}},
      {"geqrf",
       {false, 4.0 / 3,
        [](Runtime& r, X const& x, Tiles const& t) {
          geqrf(r, x.a, Kokkos::View<T*, Kokkos::HostSpace>("tau", x.a.extent(0)), t.outer);
        },
        geqrf_of_lapack}},
      {"gels",
       {false, 4.0 / 3,
        [](Runtime& r, X const& x, Tiles const& t) {
          Matrix<T> const solution("X", x.b.extent(0), x.b.extent(1));
          gels(r, x.a, x.b, solution, t.outer, 0.0);
          Kokkos::deep_copy(x.b, solution);
        },
        gels_of_lapack}},
  };
}

struct Case {
  std::string operation;
  std::uint64_t n;
  std::string scheduler;
  int repeats;
  std::vector<Tiles> tiles;
};

// auto, TILE, TILE/INNER or TILExSTACK
Tiles parse_tiles(char const* text) {
  if (std::string_view(text) == "auto") return {};
  char* end = nullptr;
  Tiles tiles{.outer = std::strtoull(text, &end, 10)};
  if (*end == '/') tiles.inner = std::atoi(end + 1);
  if (*end == 'x') tiles.stack = std::strtoull(end + 1, nullptr, 10);
  return tiles;
}

// Symmetric positive definite, or uniform in [-1, 1] with a diagonal for LU without pivoting.
template <class T>
void fill(Operands<T> const& x, bool symmetric, bool dominant) {
  Random random(1);
  auto const n = x.a.extent(0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      double const value = symmetric ? spd_entry(n, 1, i, j) : 2 * random.uniform() - 1;
      x.a(i, j) = static_cast<T>(i == j && dominant ? value + static_cast<double>(n) : value);
    }
  }
  for (std::size_t j = 0; j < x.b.extent(1); ++j) {
    for (std::size_t i = 0; i < n; ++i) x.b(i, j) = static_cast<T>(2 * random.uniform() - 1);
  }
}

template <class T>
void copy(Operands<T> const& to, Operands<T> const& from) {
  Kokkos::deep_copy(to.a, from.a);
  Kokkos::deep_copy(to.b, from.b);
}

// The largest difference of two results' elements, relative to the largest element.
template <class T>
double difference(Matrix<T> const& x, Matrix<T> const& y) {
  double most = 0;
  double largest = 0;
  for (std::size_t e = 0; e < x.span(); ++e) {
    most = std::max(most, std::abs(static_cast<double>(x.data()[e]) - static_cast<double>(y.data()[e])));
    largest = std::max(largest, std::abs(static_cast<double>(y.data()[e])));
  }
  return most / largest;
}

// With one tile size.
struct Runs {
  std::vector<double> took, ratios;
  double busy = 0;  // the part of the workers' time in kernels, of the last run
  std::uint64_t inner_tasks = 0;
  double difference = 0;
};

template <class T>
void run(Case const& bench, Operation<T> const& operation, Tiles const& tiles, Operands<T> const& x, Runs& runs) {
  Runtime runtime(RuntimeOptions{.scheduler = bench.scheduler});
  runs.took.push_back(bench::seconds_of([&] { operation.ours(runtime, x, tiles); }));
  auto const workers = runtime.statistics().workers;
  runs.busy = 0;
  runs.inner_tasks = 0;
  for (auto const& worker : workers) {
    runs.busy += seconds(worker.busy) / (runs.took.back() * static_cast<double>(workers.size()));
    runs.inner_tasks += worker.inner_tasks;
  }
}

template <class T>
void measure(Case const& bench) {
  auto const n = static_cast<int>(bench.n);
  auto const operation = operations<T>().at(bench.operation);
  auto const make = [&] {
    return Operands<T>{Matrix<T>("A", bench.n, bench.n), Matrix<T>("B", bench.n, right_hand_sides)};
  };
  auto const start = make(), ours = make(), lapack = make();
  fill(start, operation.symmetric, bench.operation == "getrf_nopiv");
  bool const solves = bench.operation == "posv" || bench.operation == "gesv" || bench.operation == "gels";
  auto const workers = Runtime(RuntimeOptions{.scheduler = bench.scheduler}).statistics().workers.size();
  std::vector<double> lapack_took;
  std::vector<Runs> all(bench.tiles.size());
  for (int r = 0; r < bench.repeats; ++r) {
    set_blas_threads(static_cast<int>(workers));
    copy(lapack, start);
    lapack_took.push_back(bench::seconds_of([&] {
      if (operation.lapack(n, lapack) != 0) throw std::runtime_error("LAPACK failed");
    }));
    for (std::size_t t = 0; t < all.size(); ++t) {
      copy(ours, start);
      run(bench, operation, bench.tiles[t], ours, all[t]);
      all[t].ratios.push_back(lapack_took.back() / all[t].took.back());
      all[t].difference = solves ? difference(ours.b, lapack.b) : difference(ours.a, lapack.a);
    }
  }
  double const cube = static_cast<double>(n) * n * n;
  double const gflop = operation.flops_per_cube * cube * 1e-9;
  for (std::size_t t = 0; t < all.size(); ++t) {
    auto const& tiles = bench.tiles[t];
    auto const& runs = all[t];
    nlohmann::ordered_json const line{{"operation", bench.operation},
                                      {"n", bench.n},
                                      {"precision", name_of(scalar_type_of<T>)},
                                      {"tile", tiles.outer.value_or(default_tile(bench.n))},
                                      {"inner_tile", tiles.inner},
                                      {"stack", tiles.stack},
                                      {"chosen", !tiles.outer},
                                      {"blas", find_blas_library().id()},
                                      {"scheduler", bench.scheduler},
                                      {"workers", workers},
                                      {"granary_gflops", gflop / bench::median(runs.took)},
                                      {"lapack_gflops", gflop / bench::median(lapack_took)},
                                      {"ratio", bench::median(runs.ratios)},
                                      {"difference", runs.difference},
                                      {"runs", runs.took.size()},
                                      {"best_gflops", gflop / std::ranges::min(runs.took)},
                                      {"busy", runs.busy},
                                      {"inner_tasks", runs.inner_tasks}};
    std::printf("%s\n", line.dump().c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(
        stderr,
        "usage: incore_bench potrf|getrf_nopiv|getrf|posv|gesv|geqrf|gels N double|float SCHEDULER REPEATS TILE...\n");
    return 2;
  }
  return granary::bench::exit_status("incore_bench", [&] {
    Kokkos::ScopeGuard const kokkos;
    Case bench{argv[1], std::strtoull(argv[2], nullptr, 10), argv[4], std::atoi(argv[5]), {}};
    for (int t = 6; t < argc; ++t) bench.tiles.push_back(parse_tiles(argv[t]));
    std::string(argv[3]) == "float" ? measure<float>(bench) : measure<double>(bench);
  });
}
