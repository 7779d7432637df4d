// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// geqrf, unmqr and ungqr on the matrices of LAPACK's tests, by its ratios and its threshold, on a runtime; and beside
// LAPACK's own geqrf.
#include <granary/linalg.hpp>

#include <gtest/gtest.h>

#include "lapack/matrix_types.hpp"
#include "unit/linalg/api.hpp"
#include "unit/linalg/qr.hpp"

extern "C" {
void dgeqrf_(int const*, int const*, double*, int const*, double*, double*, int const*, int*);
void sgeqrf_(int const*, int const*, float*, int const*, float*, float*, int const*, int*);
}

namespace granary::qr_test {
namespace {

using testing::lapack_threshold;
using testing::Long;
using testing::Rectangle;
using testing::view_of;

void lapack_geqrf(int m, int n, double* a, double* tau) {
  std::vector<double> work(static_cast<std::size_t>(64 * n));
  int const size = static_cast<int>(work.size());
  int info = 0;
  dgeqrf_(&m, &n, a, &m, tau, work.data(), &size, &info);
}
void lapack_geqrf(int m, int n, float* a, float* tau) {
  std::vector<float> work(static_cast<std::size_t>(64 * n));
  int const size = static_cast<int>(work.size());
  int info = 0;
  sgeqrf_(&m, &n, a, &m, tau, work.data(), &size, &info);
}

// The reflectors of a factored matrix, in long double.
template <class T>
struct Reflectors {
  Rectangle<Long<T>> vectors, upper;
  std::vector<Long<T>> taus;

  Reflectors(Rectangle<T> const& factored, Kokkos::View<T*, Kokkos::HostSpace> const& tau)
      : vectors(testing::rectangle_of<Long<T>>(factored.rows, tau.extent(0),
                                               [&](std::uint64_t i, std::uint64_t j) {
                                                 return i == j  ? Long<T>(1)
                                                        : i < j ? Long<T>(0)
                                                                : testing::lengthen<T>(factored(i, j));
                                               })),
        upper(testing::rectangle_of<Long<T>>(factored.rows, factored.cols, [&](std::uint64_t i, std::uint64_t j) {
          return i <= j ? testing::lengthen<T>(factored(i, j)) : Long<T>(0);
        })) {
    for (std::size_t j = 0; j < tau.extent(0); ++j) taus.push_back(testing::lengthen<T>(tau(j)));
  }
  // Q X, or Q^H X.
  [[nodiscard]] Rectangle<Long<T>> times(Rectangle<Long<T>> x, bool adjoint) const {
    testing::apply_reflectors(vectors, taus, adjoint, x);
    return x;
  }
};

template <class T>
Rectangle<Long<T>> lengthen_all(Rectangle<T> const& a) {
  return testing::rectangle_of<Long<T>>(
      a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return testing::lengthen<T>(a(i, j)); });
}

template <class T>
class LapackQr : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 2, .models = models_off}};
};
TYPED_TEST_SUITE(LapackQr, testing::Scalars);

TYPED_TEST(LapackQr, PassesOnAllTypesShapesAndTiles) {
  using T = TypeParam;
  for (auto const& [m, n] : {std::pair{1, 1}, {50, 50}, {67, 31}, {31, 67}, {100, 7}, {3, 50}, {33, 32}}) {
    for (int type = 1; type <= 11; ++type) {
      auto const matrix =
          testing::general_type<T>(type, static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n), 3);
      if (!matrix) continue;
      for (std::uint64_t const tile : {5, 16, 64}) {
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", type " + std::to_string(type) + ", tile " +
                     std::to_string(tile));
        auto const& a = matrix->elements;
        auto factored = a;
        Kokkos::View<T*, Kokkos::HostSpace> const tau("tau", std::min(a.rows, a.cols));
        geqrf(this->runtime, view_of(factored), tau, tile);
        Reflectors<T> const q(factored, tau);
        EXPECT_LT(testing::difference_ratio<T>(lengthen_all(a), q.times(q.upper, false)), lapack_threshold);
        auto const identity = testing::identity_matrix<Long<T>>(a.rows);
        EXPECT_LT(testing::difference_ratio<T>(identity, q.times(q.times(identity, false), true)), lapack_threshold);
        for (std::size_t j = 0; j < tau.extent(0); ++j)
          ASSERT_EQ(factored(j, j), T(detail::real_part(factored(j, j)))) << j;

        Rectangle<T> whole(a.rows, a.rows);
        ungqr(this->runtime, view_of(factored), tau, view_of(whole), tile);
        EXPECT_LT(testing::difference_ratio<T>(q.times(identity, false), lengthen_all(whole)), lapack_threshold);
        auto const c = testing::random_rectangle<T>(a.rows, 13, 5);
        for (auto const op : {Op::NoTrans, Op::ConjTrans}) {
          auto product = c;
          unmqr(this->runtime, op, view_of(factored), tau, view_of(product), tile);
          EXPECT_LT(testing::difference_ratio<T>(q.times(lengthen_all(c), op == Op::ConjTrans), lengthen_all(product)),
                    lapack_threshold);
        }
      }
    }
  }
}

// R, the vectors and tau are LAPACK's, up to rounding.
template <class T>
void expect_lapacks(std::uint64_t m, std::uint64_t n) {
  auto const a = testing::random_rectangle<T>(m, n, 7);
  testing::LeftView<T> const ours = testing::make_view<T, Kokkos::LayoutLeft>(a);
  auto const lapacks = testing::make_view<T, Kokkos::LayoutLeft>(a);
  Kokkos::View<T*, Kokkos::HostSpace> const tau("tau", std::min(m, n)), lapacks_tau("tau of LAPACK", std::min(m, n));
  Runtime runtime({.workers = 2, .models = models_off});
  geqrf(runtime, ours, tau, 48);
  lapack_geqrf(static_cast<int>(m), static_cast<int>(n), lapacks.data(), lapacks_tau.data());
  double const bound = testing::rounding<T>(1e4 * static_cast<double>(std::max(m, n)));
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < m; ++i) ASSERT_NEAR(ours(i, j), lapacks(i, j), bound) << i << " " << j;
  }
  for (std::size_t j = 0; j < tau.extent(0); ++j) ASSERT_NEAR(tau(j), lapacks_tau(j), bound) << j;
}

TEST(LapackQrItself, HasTheSameFactors) {
  for (auto const& [m, n] : {std::pair{150, 150}, {307, 101}, {101, 233}}) {
    expect_lapacks<double>(static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n));
    expect_lapacks<float>(static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n));
  }
}

}  // namespace
}  // namespace granary::qr_test
