// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// geqrf, unmqr and ungqr with a Runtime: layouts, files out of core, and what they refuse.
#include <gmock/gmock.h>

#include "lapack/ratios.hpp"
#include "unit/linalg/api.hpp"

namespace granary::api_qr_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;

template <class T>
class QrCalls : public Files {};
TYPED_TEST_SUITE(QrCalls, Scalars);

// Q (k columns) times R's triangle is A, up to rounding.
template <class T>
void expect_factors(Rectangle<T> const& a, Rectangle<T> const& factored, Rectangle<T> const& q) {
  auto const r =
      rectangle_of<T>(q.cols, a.cols, [&](std::uint64_t i, std::uint64_t j) { return i <= j ? factored(i, j) : T(0); });
  EXPECT_LE(largest_difference(multiply(q, r), a), rounding<T>(100.0 * static_cast<double>(a.rows)));
  auto const identity =
      rectangle_of<T>(q.cols, q.cols, [](std::uint64_t i, std::uint64_t j) { return T(i == j ? 1 : 0); });
  EXPECT_LE(largest_difference(multiply(op_of(Op::ConjTrans, q), q), identity),
            rounding<T>(100.0 * static_cast<double>(a.rows)));
}

TYPED_TEST(QrCalls, TakeViewsOfAnyLayout) {
  using T = TypeParam;
  Runtime runtime({.workers = 2, .host_memory = 2_MiB, .models = models_off});
  for (auto const& [m, n] : {std::pair{130, 97}, {97, 97}, {97, 130}}) {
    auto const rows = static_cast<std::uint64_t>(m), cols = static_cast<std::uint64_t>(n), k = std::min(rows, cols);
    auto const a = random_rectangle<T>(rows, cols, 1, 3);
    auto const left = make_view<T, Kokkos::LayoutLeft>(a);
    auto const right = make_view<T, Kokkos::LayoutRight>(a);
    auto strided = a;
    Kokkos::View<T*, Kokkos::HostSpace> const tau("tau", k);
    LeftView<T> const q("Q", rows, k);
    geqrf(runtime, left, tau, 32);
    ungqr(runtime, left, tau, q, 32);
    expect_factors(a, values_of(left), values_of(q));
    geqrf(runtime, right, tau, 32);
    ungqr(runtime, right, tau, q, 32);
    expect_factors(a, values_of(right), values_of(q));
    geqrf(runtime, view_of(strided), tau, 32);
    ungqr(runtime, view_of(strided), tau, q, 32);
    expect_factors(a, strided, values_of(q));
    EXPECT_TRUE(padding_is_untouched(strided));
  }
}

TYPED_TEST(QrCalls, FactorFilesUnderTheMemoryLimit) {
  using T = TypeParam;
  std::uint64_t const m = 233, n = 187, tile = 16;
  auto const a = random_rectangle<T>(m, n, 2);
  this->write("A.h5", a, tile);
  {
    // Six tile columns.
    Bytes const limit = 6 * 15 * round_up(tile * tile * sizeof(T), 4096);
    Runtime runtime({.workers = 2, .host_memory = limit, .models = models_off});
    auto in = open_matrix<T>(runtime, this->file("A.h5"), "A", {.tile = tile, .output = this->file("QR.h5")});
    auto tau = create_matrix<T>(runtime, n, 1, {.tile = tile, .output = this->file("tau.h5"), .output_dataset = "tau"});
    geqrf(runtime, in, tau);
    in.commit();
    tau.commit();
    EXPECT_LE(runtime.figures().host_memory_peak, limit);
  }
  {
    Runtime runtime({.workers = 2, .models = models_off});
    auto const factors = open_matrix<T>(runtime, this->file("QR.h5"), "A", {.tile = tile});
    auto const tau = open_matrix<T>(runtime, this->file("tau.h5"), "tau", {.tile = tile});
    auto q = create_matrix<T>(runtime, m, n, {.tile = tile, .output = this->file("Q.h5"), .output_dataset = "Q"});
    ungqr(runtime, factors, tau, q);
    q.commit();
  }
  expect_factors(a, this->template read<T>("QR.h5", tile), this->template read<T>("Q.h5", tile));
}

TEST(QrRefusals, NameOperandsAndSizes) {
  Runtime runtime({.workers = 1, .models = models_off});
  LeftView<double> const a("A", 20, 8), wide("Q", 8, 20), c("C", 19, 3);
  Kokkos::View<double*, Kokkos::HostSpace> const tau("tau", 8), long_tau("tau", 20);
  EXPECT_EQ(refusal([&] { geqrf(runtime, a, long_tau); }),
            "geqrf: the sizes of A 'A' (20 x 8) and tau 'tau' (20 x 1) do not match");
  EXPECT_THAT(refusal([&] { unmqr(runtime, Op::NoTrans, a, tau, c); }), HasSubstr("C 'C' (19 x 3) do not match"));
  EXPECT_THAT(refusal([&] { ungqr(runtime, LeftView<double>("A", 8, 8), tau, wide); }),
              HasSubstr("ungqr: Q 'Q' (8 x 20) has fewer rows than columns"));
  Kokkos::View<Kokkos::complex<double>*, Kokkos::HostSpace> const z_tau("tau", 8);
  LeftView<Kokkos::complex<double>> const z("A", 20, 8), z_c("C", 20, 3);
  EXPECT_THAT(refusal([&] { unmqr(runtime, Op::Trans, z, z_tau, z_c); }), HasSubstr("the transpose of a complex Q"));
}

}  // namespace
}  // namespace granary::api_qr_test
