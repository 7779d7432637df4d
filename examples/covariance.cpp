// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Gaussian process: how likely are the measurements y at the points p? This needs a solve with the covariance matrix
// K(i, j) = exp(-|p_i - p_j|^2 / (2 length^2)) + noise (i = j) and its determinant, so its Cholesky factor:
//
//     log likelihood = -(y^T K^-1 y + log det K + n log 2 pi) / 2
//
// K is larger than the memory limit and is never in a file: tasks compute its tiles, granary factors them, and tiles
// that do not fit in memory go to scratch. Argument: the number of points (default 1024). Up to 2048 points the result
// is compared with LAPACK's.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using granary::Uplo;
using Points = Kokkos::View<double* [2], Kokkos::LayoutRight, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

constexpr std::uint64_t tile = 128;
constexpr double length = 0.2;
constexpr double noise = 0.01;

template <class P>
KOKKOS_INLINE_FUNCTION double covariance(P const& points, std::size_t i, std::size_t j) {
  double const dx = points(i, 0) - points(j, 0), dy = points(i, 1) - points(j, 1);
  return exp(-(dx * dx + dy * dy) / (2 * length * length)) + (i == j ? noise : 0);
}

// [bodies]
// The elements of a tile whose first element is K(first_row, first_col).
struct Assemble {
  std::uint64_t first_row, first_col;
  template <class Exec, class P, class Tile>
  void operator()(Exec const& exec, P points, Tile k) const {
    auto const row = first_row, col = first_col;
    long const rows = static_cast<long>(k.extent(0)), cols = static_cast<long>(k.extent(1));
    Kokkos::parallel_for(
        "assemble", Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(exec, {0, 0}, {rows, cols}),
        KOKKOS_LAMBDA(long i, long j) {
          k(i, j) = covariance(points, row + static_cast<std::uint64_t>(i), col + static_cast<std::uint64_t>(j));
        });
  }
};
// [bodies]

double log_likelihood(granary::Runtime& runtime, Points const& points, Vector const& y) {
  // [covariance]
  auto const n = points.extent(0);
  auto const K = granary::create_matrix<double>(runtime, n, n, {.part = granary::MatrixPart::Lower, .tile = tile});
  auto const p = runtime.data(points);
  auto const tiles = K.tiles().grid().tile_rows();
  for (std::uint64_t i = 0; i < tiles; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      auto const k = K.tile(i, j);
      runtime.submit("assemble", Assemble{k.first_row(), k.first_col()}, read(p), write(k));
    }
  }
  granary::potrf(runtime, Uplo::Lower, K);  // K = L L^T

  auto log_determinant = granary::async::logdet(runtime, Uplo::Lower, K);  // of K, from its factor
  Vector x("x", y.extent(0));
  Kokkos::deep_copy(x, y);
  granary::potrs(runtime, Uplo::Lower, K, x);  // x = K^-1 y
  // [covariance]
  double product = 0;
  for (std::size_t i = 0; i < y.extent(0); ++i) product += y(i) * x(i);
  return -0.5 * (product + log_determinant.get() + static_cast<double>(n) * std::log(2 * M_PI));
}

// The same in memory, with LAPACK.
double log_likelihood_by_lapack(Points const& points, Vector const& y) {
  auto const n = points.extent(0);
  auto const order = static_cast<int>(n);
  std::vector<double> k(n * n), z(y.data(), y.data() + n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) k[i + j * n] = covariance(points, i, j);
  }
  if (granary::blas::potrf(Uplo::Lower, order, k.data(), order) != 0) throw granary::Error("LAPACK found no factor");
  granary::blas::trsm(granary::Side::Left, Uplo::Lower, granary::Op::NoTrans, granary::Diag::NonUnit, order, 1, 1.0,
                      k.data(), order, z.data(), order);  // z = L^-1 y, so z^T z = y^T K^-1 y
  double sum = static_cast<double>(n) * std::log(2 * M_PI);
  for (std::size_t i = 0; i < n; ++i) sum += z[i] * z[i] + 2 * std::log(k[i + i * n]);
  return -0.5 * sum;
}

int run(std::uint64_t n) {
  if (n == 0) throw granary::InvalidArgument("there must be at least one point");
  Points points("points", n);
  Vector y("y", n);
  for (std::uint64_t i = 0; i < n; ++i) {  // a spiral in the unit square
    double const t = std::sqrt((static_cast<double>(i) + 0.5) / static_cast<double>(n)),
                 angle = 2.399963 * static_cast<double>(i);
    points(i, 0) = 0.5 + 0.5 * t * std::cos(angle);
    points(i, 1) = 0.5 + 0.5 * t * std::sin(angle);
    y(i) = std::sin(6 * points(i, 0)) * points(i, 1);
  }
  auto const bytes = n * n / 2 * sizeof(double);
  granary::Runtime runtime({.host_memory = std::max<granary::Bytes>(bytes / 3, 8 * tile * tile * sizeof(double))});
  double const value = log_likelihood(runtime, points, y);
  std::printf("half of K, %s, in %s of memory; log likelihood %.6f\n", granary::format_bytes(bytes).c_str(),
              granary::format_bytes(runtime.figures().host_memory_peak).c_str(), value);
  if (n > 2048) return 0;
  double const difference = std::abs(value - log_likelihood_by_lapack(points, y)) / std::abs(value);
  std::printf("relative difference from LAPACK: %.2g\n", difference);
  return difference < 1e-9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    return run(argc > 1 ? std::stoull(argv[1]) : 1024);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "covariance: %s\n", error.what());
    return 2;
  }
}
