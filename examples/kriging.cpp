// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kriging POINTS.csv PREDICTIONS.h5 MEMORY. The values at points of the plane (columns x, y and value) are a Gaussian
// process with covariance s² R(i, j), R(i, j) = exp(-|p_i - p_j| / length) + nugget (i = j); s² = y^T R^-1 y / n. A
// golden section search finds the most likely length. Then each value is predicted from all others, with the variance
// of that: y_i - (R^-1 y)_i / (R^-1)_ii and s² / (R^-1)_ii (Rasmussen and Williams, Gaussian Processes for Machine
// Learning, equation 5.12). As far as R is larger than MEMORY, it is on the disk.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>
#include <granary/progress.hpp>
#include <granary/signals.hpp>

#include <cmath>
#include <cstdio>
#include <exception>

namespace {
using granary::Uplo;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
constexpr double nugget = 0.01, shortest = 0.02, longest = 0.5, golden = 0.6180339887498949;

struct Assemble {  // the elements of a tile whose first element is R(first_row, first_col)
  double length;
  std::uint64_t first_row, first_col;
  template <class Exec, class P, class Tile>
  void operator()(Exec const& exec, P p, Tile r) const {
    auto const [scale, row, col] = *this;
    long const rows = static_cast<long>(r.extent(0)), cols = static_cast<long>(r.extent(1));
    Kokkos::parallel_for(
        "assemble", Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(exec, {0, 0}, {rows, cols}),
        KOKKOS_LAMBDA(long i, long j) {
          auto const k = row + static_cast<std::uint64_t>(i), l = col + static_cast<std::uint64_t>(j);
          r(i, j) = exp(-hypot(p(k, 0) - p(l, 0), p(k, 1) - p(l, 1)) / scale) + (k == l ? nugget : 0);
        });
  }
};

struct Model {
  granary::Runtime& runtime;
  granary::CsvTable points;
  std::uint64_t n = points.values.extent(0);
  Vector y = Kokkos::subview(points.values, Kokkos::ALL, 2), solved{"R^-1 y", n};
  granary::FileMatrix<double> R =
      granary::create_matrix<double>(runtime, n, n, {.part = granary::MatrixPart::Lower, .tile = 256});
  double variance = 0;

  double log_likelihood(double length) {  // leaves the factor in R, and R^-1 y
    auto const p = runtime.data(points.values);
    for (std::uint64_t i = 0; i < R.tiles().grid().tile_rows(); ++i) {
      for (std::uint64_t j = 0; j <= i; ++j) {
        auto const r = R.tile(i, j);
        runtime.submit("assemble", Assemble{length, r.first_row(), r.first_col()}, read(p), write(r));
      }
    }
    Kokkos::deep_copy(solved, y);
    granary::posv(runtime, Uplo::Lower, R, solved);
    variance = 0;
    for (std::size_t i = 0; i < n; ++i) variance += y(i) * solved(i) / static_cast<double>(n);
    double const log_determinant = granary::logdet(runtime, Uplo::Lower, R);
    return -0.5 * (static_cast<double>(n) * (std::log(2 * M_PI * variance) + 1) + log_determinant);
  }
};

void run(granary::Runtime& runtime, char const* points, char const* output) {
  Model model{runtime, granary::read_csv(points, {"x", "y", "value"})};
  auto file = granary::create_matrix<double>(runtime, model.n, 2, {.output = output, .columns = {"value", "variance"}});
  double low = std::log(shortest), high = std::log(longest);
  while (high - low > 0.1) {
    double const a = high - golden * (high - low), b = low + golden * (high - low);
    (model.log_likelihood(std::exp(a)) > model.log_likelihood(std::exp(b)) ? high = b : low = a);
  }
  double const length = std::exp((low + high) / 2), likelihood = model.log_likelihood(length);
  Kokkos::View<double**, Kokkos::HostSpace> const predicted("predictions", model.n, 2);
  Vector const inverse("diagonal of R^-1", model.n);
  granary::inverse_diag(runtime, Uplo::Lower, model.R, inverse);
  for (std::size_t i = 0; i < model.n; ++i) {
    predicted(i, 0) = model.y(i) - model.solved(i) / inverse(i);
    predicted(i, 1) = model.variance / inverse(i);
  }
  granary::copy(runtime, predicted, file);
  file.commit();
  std::printf("length %.12g, variance %.12g, log likelihood %.12g\n", length, model.variance, likelihood);
}
}  // namespace

int main(int argc, char** argv) {
  granary::SignalWatch const signals;
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    if (argc != 4) throw granary::InvalidArgument("use: kriging POINTS.csv PREDICTIONS.h5 MEMORY");
    granary::Runtime runtime({.host_memory = granary::parse_bytes(argv[3])});
    runtime.cancel_on(signals);
    granary::Progress const bar(runtime, "kriging");
    run(runtime, argv[1], argv[2]);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "kriging: %s\n", error.what());
    auto const* const interrupted = dynamic_cast<granary::Interrupted const*>(&error);
    return interrupted != nullptr ? interrupted->status() : 2;
  }
}
