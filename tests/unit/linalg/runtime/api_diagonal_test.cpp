// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The diagonal of a matrix, and the log-determinant, with a Runtime.
#include <granary/detail/linalg/generators/spd_generator.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::api_diagonal_test {
namespace {

using namespace testing;

constexpr std::uint64_t tile = 16;

template <class T>
class Diagonals : public Files {
 protected:
  Runtime runtime{{.workers = 2, .host_memory = 20 * tile * tile * sizeof(T) + 1_MiB, .models = models_off}};
};
TYPED_TEST_SUITE(Diagonals, Scalars);

TYPED_TEST(Diagonals, AreThoseOfMatricesOfAnyShape) {
  using T = TypeParam;
  for (auto const& [rows, cols] : {std::pair<std::uint64_t, std::uint64_t>{50, 50}, {50, 41}, {23, 70}, {5, 3}}) {
    auto const values = random_eighths<T>(rows, cols);
    auto const count = std::min(rows, cols);
    auto const expected = rectangle_of<T>(count, 1, [&](std::uint64_t i, std::uint64_t) { return values(i, i); });
    Kokkos::View<T*, Kokkos::HostSpace> const d("d", count);
    diag(this->runtime, make_view<T, Kokkos::LayoutRight>(values), d, tile);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(d(i), values(i, i)) << rows << " x " << cols << ", " << i;
    LeftView<T> const column("column", count, 1);
    diag(this->runtime, make_view<T, Kokkos::LayoutLeft>(values), column, tile);
    EXPECT_EQ(largest_difference(values_of(column), expected), 0);
  }
}

// log det of a product is the sum of the logs; det(c A) = c^n det(A), which overflows long before its logarithm.
TYPED_TEST(Diagonals, GiveTheLogDeterminantAfterCholesky) {
  using T = TypeParam;
  constexpr std::uint64_t n = 150;
  double const scale = 1000;
  // The Gram matrix of a unit lower triangular matrix with small elements has determinant 1.
  auto const l = rectangle_of<T>(n, n, [](std::uint64_t i, std::uint64_t j) {
    return i == j ? T(1) : i > j ? T(static_cast<detail::RealOf<T>>(unit_at(7, i, j) / 20)) : T(0);
  });
  auto const gram = multiply_add(T(scale), l, op_of(Op::ConjTrans, l), T(0), l);
  double const expected = n * std::log(scale);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const a = make_view<T, Kokkos::LayoutLeft>(gram);
    potrf(this->runtime, uplo, a, tile);
    auto pending = async::logdet(this->runtime, uplo, a, tile);
    double const found = pending.get();
    EXPECT_NEAR(found, expected, rounding<T>(100 * n));
    EXPECT_EQ(logdet(this->runtime, uplo, a, 150), logdet(this->runtime, uplo, a, 150));
    EXPECT_NEAR(logdet(this->runtime, uplo, a, 150), found, 1e-9) << "another order of the sum";
  }
}

TYPED_TEST(Diagonals, OfAFactorInAFile) {
  using T = TypeParam;
  auto matrix = open_matrix<T>(this->runtime, "spd:100:50", "",
                               {.part = MatrixPart::Lower, .tile = tile, .output = this->file("L.h5")});
  potrf(this->runtime, Uplo::Lower, matrix);
  double const determinant = logdet(this->runtime, Uplo::Lower, matrix);
  Kokkos::View<T*, Kokkos::HostSpace> const d("d", 100);
  diag(this->runtime, matrix, d);
  double sum = 0;
  for (std::uint64_t i = 0; i < 100; ++i) sum += 2 * std::log(double(detail::modulus(d(i))));
  EXPECT_NEAR(determinant, sum, 1e-9 * std::abs(sum));
  EXPECT_NE(determinant, 0);
  EXPECT_THAT(refusal([&] { static_cast<void>(logdet(this->runtime, Uplo::Upper, matrix)); }),
              ::testing::HasSubstr("logdet needs the upper triangle of A"));
}

TEST(LogDeterminants, OfWhatIsNoFactor) {
  Runtime runtime({.workers = 1, .models = models_off});
  LeftView<double> const a("a", 40, 40);
  set(runtime, 0.0, 1.0, a);
  EXPECT_EQ(logdet(runtime, Uplo::Lower, a, tile), 0);
  a(30, 30) = 0;
  EXPECT_EQ(logdet(runtime, Uplo::Lower, a, tile), -std::numeric_limits<double>::infinity());
  a(2, 2) = -1;
  EXPECT_TRUE(std::isnan(logdet(runtime, Uplo::Lower, a, tile)));
  a(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(logdet(runtime, Uplo::Lower, a, tile)));
}

TEST(LogDeterminants, AndDiagonalsThatDoNotFitAreRefused) {
  Runtime runtime({.workers = 1, .models = models_off});
  LeftView<double> const wide("wide", 6, 8), two("two", 6, 2);
  ColumnView<double> const longer("longer", Kokkos::LayoutStride(7, 1));
  EXPECT_EQ(refusal([&] { static_cast<void>(logdet(runtime, Uplo::Lower, wide)); }),
            "logdet: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(refusal([&] { diag(runtime, wide, longer); }),
            "diag: the sizes of A 'wide' (6 x 8) and d 'longer' (7 x 1) do not match");
  EXPECT_EQ(refusal([&] { diag(runtime, wide, two); }),
            "diag: the sizes of A 'wide' (6 x 8) and d 'two' (6 x 2) do not match");
  ColumnView<double> const inside(wide.data(), Kokkos::LayoutStride(6, 1));
  EXPECT_THAT(refusal([&] { diag(runtime, wide, inside); }), ::testing::HasSubstr("share elements"));
}

TEST(LogDeterminants, AndDiagonalsOfTilesThatDoNotFitAreRefused) {
  Runtime runtime({.workers = 1, .models = models_off});
  TaskEmitter tasks(runtime.submitter());
  auto const temporary = [&](detail::TileGrid const& grid) {
    return make_temporary_matrix<double>(runtime.submitter(), grid, MatrixPart::All, "a");
  };
  auto wide = temporary({6, 8, 4});
  auto other_tiles = temporary({6, 1, 3});
  EXPECT_EQ(refusal([&] { submit_logdet(tasks, wide, DataId{}); }),
            "logdet cannot take A of 6 x 8 in tiles of 4: the shapes do not match");
  EXPECT_EQ(refusal([&] { submit_diag(tasks, wide, wide); }),
            "diag cannot take A of 6 x 8 in tiles of 4 and d of 6 x 8 in tiles of 4: the shapes do not match");
  EXPECT_EQ(refusal([&] { submit_diag(tasks, wide, other_tiles); }),
            "diag needs tiles of one size, not A of 6 x 8 in tiles of 4 and d of 6 x 1 in tiles of 3");
  wide.release(runtime.submitter());
  other_tiles.release(runtime.submitter());
}

}  // namespace
}  // namespace granary::api_diagonal_test
