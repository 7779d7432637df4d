// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Gaussian process of covariance.cpp on several processes, as on the nodes of a cluster:
//
//     mpirun -np 4 granary-example-distributed 2000
//
// All processes submit the same tasks. The tiles of K are dealt over a grid of processes; each runs the tasks that
// write its own tiles, within its own memory limit, and gets the tiles of others that it reads. Argument: the number of
// points (default 1024).
#include <granary/granary.hpp>
#include <granary/linalg.hpp>
#include <granary/mpi.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

namespace {

using Points = Kokkos::View<double* [2], Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr std::uint64_t tile = 128;
constexpr double length = 0.2, noise = 0.01;

// [bodies]
// The elements of a tile whose first element is K(first_row, first_col).
struct Assemble {
  static constexpr bool launches_kokkos_kernels = false;
  std::uint64_t first_row, first_col;
  template <class Exec, class P, class Tile>
  void operator()(Exec const&, P points, Tile k) const {
    for (std::size_t i = 0; i < k.extent(0); ++i) {
      for (std::size_t j = 0; j < k.extent(1); ++j) {
        auto const row = first_row + i, col = first_col + j;
        double const dx = points(row, 0) - points(col, 0), dy = points(row, 1) - points(col, 1);
        k(i, j) = std::exp(-(dx * dx + dy * dy) / (2 * length * length)) + (row == col ? noise : 0);
      }
    }
  }
};
// Measurements at the points from the first one on.
struct Measure {
  static constexpr bool launches_kokkos_kernels = false;
  std::uint64_t first;
  template <class Exec, class P, class Y>
  void operator()(Exec const&, P points, Y y) const {
    for (std::size_t i = 0; i < y.extent(0); ++i) y(i, 0) = std::sin(6 * points(first + i, 0)) * points(first + i, 1);
  }
};
struct AddLogDeterminant {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Tile, class Sum>
  void operator()(Exec const&, Tile l, Sum sum) const {
    for (std::size_t i = 0; i < l.extent(0); ++i) sum() += 2 * std::log(l(i, i));
  }
};
struct AddProduct {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Y, class X, class Sum>
  void operator()(Exec const&, Y y, X x, Sum sum) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) sum() += y(i, 0) * x(i, 0);
  }
};
// [bodies]

// [distributed]
double log_likelihood(granary::Runtime& runtime, Points const& points) {
  auto const n = points.extent(0);
  auto const K = granary::create_matrix<double>(runtime, n, n, {.part = granary::MatrixPart::Lower, .tile = tile});
  auto const y = granary::create_matrix<double>(runtime, n, 1, {.tile = tile});
  auto const x = granary::create_matrix<double>(runtime, n, 1, {.tile = tile});
  auto const p = runtime.data(points);  // each process has a copy of them; one process's counts
  auto const tiles = K.tiles().grid().tile_rows();
  for (std::uint64_t i = 0; i < tiles; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      auto const k = K.tile(i, j);
      runtime.submit("assemble", Assemble{k.first_row(), k.first_col()}, read(p), write(k));  // in the owner of k
    }
    runtime.submit("measure", Measure{i * tile}, read(p), write(y.tile(i, 0)));
    runtime.submit("measure", Measure{i * tile}, read(p), write(x.tile(i, 0)));
  }
  granary::potrf(runtime, granary::Uplo::Lower, K);     // K = L L^T
  granary::potrs(runtime, granary::Uplo::Lower, K, x);  // x = K^-1 y

  auto const log_determinant = runtime.scalar("log det K", 0.0), product = runtime.scalar("y^T x", 0.0);
  for (std::uint64_t i = 0; i < tiles; ++i) {
    runtime.submit("log_determinant", AddLogDeterminant{}, read(K.tile(i, i)), read_write(log_determinant));
    runtime.submit("product", AddProduct{}, read(y.tile(i, 0)), read(x.tile(i, 0)), read_write(product));
  }
  // All processes get the values.
  return -0.5 * (product.get() + log_determinant.get() + static_cast<double>(n) * std::log(2 * M_PI));
}

void run(std::uint64_t n) {
  if (n == 0) throw granary::InvalidArgument("there must be at least one point");
  Points points("points", n);
  for (std::uint64_t i = 0; i < n; ++i) {  // a spiral in the unit square
    double const t = std::sqrt((static_cast<double>(i) + 0.5) / static_cast<double>(n)),
                 angle = 2.399963 * static_cast<double>(i);
    points(i, 0) = 0.5 + 0.5 * t * std::cos(angle);
    points(i, 1) = 0.5 + 0.5 * t * std::sin(angle);
  }
  granary::Runtime runtime = granary::mpi::runtime(MPI_COMM_WORLD, {.host_memory = 32 * tile * tile * sizeof(double)});
  double const value = log_likelihood(runtime, points);
  if (runtime.process() != granary::ProcessId(0)) return;
  std::printf("%u processes, each with %s of memory; log likelihood %.6f\n", runtime.processes(),
              granary::format_bytes(runtime.figures().host_memory_peak).c_str(), value);
}
// [distributed]

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int status = 0;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    try {
      run(argc > 1 ? std::stoull(argv[1]) : 1024);
    } catch (std::exception const& error) {  // the same in all processes, or the job has ended
      std::fprintf(stderr, "distributed: %s\n", error.what());
      status = 2;
    }
  }
  MPI_Finalize();
  return status;
}
