// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/scalars.hpp"
#include "unit/linalg/rectangle.hpp"

namespace granary {
namespace {

using testing::bind_rectangle;
using testing::ImmediateSubmitter;
using testing::random_rectangle;
using testing::Rectangle;
using testing::rectangle_of;
using testing::RowMajorTiles;

constexpr Norm norms[] = {Norm::Max, Norm::One, Norm::Infinity, Norm::Frobenius};

template <class T>
class Norms : public ::testing::Test {
 protected:
  static double lange(Norm norm, ImmediateSubmitter& submitter, detail::TiledMatrix<T> const& a) {
    double result = -1;
    TaskEmitter tasks(submitter);
    submit_lange(tasks, norm, a, submitter.bind("norm", sizeof result, &result));
    return result;
  }
  static double lanhe(Norm norm, ImmediateSubmitter& submitter, detail::TiledMatrix<T> const& a) {
    double result = -1;
    TaskEmitter tasks(submitter);
    submit_lanhe(tasks, norm, a, submitter.bind("norm", sizeof result, &result));
    return result;
  }
  static double lapack(Norm norm, Rectangle<T> const& a) {
    std::vector<detail::RealOf<T>> work(a.rows);
    return static_cast<double>(blas::lange(norm, static_cast<int>(a.rows), static_cast<int>(a.cols), a.elements.data(),
                                           static_cast<int>(a.ld), work.data()));
  }
  // LAPACK adds up to 41 * 23 moduli or squares, of two parts where they are complex, in T.
  static double tolerance(double value) {
    return 2 * 41 * 23 * value * std::numeric_limits<detail::RealOf<T>>::epsilon();
  }
};
TYPED_TEST_SUITE(Norms, test::Scalars);

TYPED_TEST(Norms, LangeEqualsLapackOnEveryPart) {
  using T = TypeParam;
  for (auto const& [rows, cols] : {std::pair<std::uint64_t, std::uint64_t>{23, 41}, {41, 23}, {30, 30}, {1, 1}}) {
    for (auto const part : {MatrixPart::All, MatrixPart::Lower, MatrixPart::Upper}) {
      auto a = random_rectangle<T>(rows, cols, rows, 2);
      auto const counted = rectangle_of<T>(rows, cols, [&](std::uint64_t i, std::uint64_t j) {
        return part == MatrixPart::All || (part == MatrixPart::Lower ? i >= j : i <= j) ? a(i, j) : T(0);
      });
      for (auto const norm : norms) {
        for (std::uint64_t const tile : {7, 50}) {
          double const expected = this->lapack(norm, counted);
          RowMajorTiles<T> by_rows(a, tile);
          ImmediateSubmitter submitter;
          EXPECT_NEAR(this->lange(norm, submitter, bind_rectangle(submitter, a, tile, part)), expected,
                      this->tolerance(expected));
          EXPECT_NEAR(this->lange(norm, submitter, by_rows.bind(submitter, part)), expected, this->tolerance(expected));
          EXPECT_EQ(submitter.released.size(), submitter.data.size() - 2 * count_tiles({rows, cols, tile}, part) - 2);
        }
      }
    }
  }
}

TYPED_TEST(Norms, LanheCountsTheStoredTriangleTwiceAndARealDiagonal) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto a = random_rectangle<T>(33, 33, 9, 2);
    auto const full = testing::hermitian_of(uplo, a);
    for (auto const norm : norms) {
      for (std::uint64_t const tile : {8, 33}) {
        double const expected = this->lapack(norm, full);
        RowMajorTiles<T> by_rows(a, tile);
        ImmediateSubmitter submitter;
        EXPECT_NEAR(this->lanhe(norm, submitter, bind_rectangle(submitter, a, tile, detail::part_of(uplo))), expected,
                    this->tolerance(expected));
        EXPECT_NEAR(this->lanhe(norm, submitter, by_rows.bind(submitter, detail::part_of(uplo))), expected,
                    this->tolerance(expected));
        EXPECT_EQ(submitter.released.size(),
                  submitter.data.size() - 2 * count_tiles(square_grid(33, tile), detail::part_of(uplo)) - 2);
      }
    }
  }
}

TYPED_TEST(Norms, FrobeniusNeitherOverflowsNorUnderflows) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  for (R const size : {std::numeric_limits<R>::max() / 100, std::numeric_limits<R>::min() * 4}) {
    auto a =
        rectangle_of<T>(12, 9, [&](std::uint64_t i, std::uint64_t j) { return (i + j) % 2 == 0 ? T(size) : T(0); });
    double const expected = static_cast<double>(size) * std::sqrt(54.0);
    ImmediateSubmitter submitter;
    EXPECT_NEAR(this->lange(Norm::Frobenius, submitter, bind_rectangle(submitter, a, 5)) / expected, 1, 1e-12);
    auto square = rectangle_of<T>(9, 9, [&](std::uint64_t, std::uint64_t) { return T(size); });
    EXPECT_NEAR(this->lanhe(Norm::Frobenius, submitter, bind_rectangle(submitter, square, 5, MatrixPart::Lower)) /
                    (static_cast<double>(size) * 9),
                1, 1e-12);
  }
}

TYPED_TEST(Norms, MixedMagnitudesInDifferentTilesKeepTheLargest) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  auto a = rectangle_of<T>(8, 8, [](std::uint64_t, std::uint64_t) { return T(std::numeric_limits<R>::min()); });
  a(7, 7) = T(std::numeric_limits<R>::max() / 2);
  a(0, 0) = T(1);
  ImmediateSubmitter submitter;
  auto const tiles = bind_rectangle(submitter, a, 4);
  double const expected = static_cast<double>(std::numeric_limits<R>::max() / 2);
  for (auto const norm : norms) EXPECT_NEAR(this->lange(norm, submitter, tiles) / expected, 1, 1e-12);
}

TYPED_TEST(Norms, NanAndInfinityPropagate) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  for (auto const& [i, j] : {std::pair{0, 0}, {6, 2}, {9, 9}}) {
    auto a = random_rectangle<T>(10, 10, 4);
    a(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)) = T(std::numeric_limits<R>::infinity());
    ImmediateSubmitter submitter;
    for (auto const norm : norms) {
      EXPECT_EQ(this->lange(norm, submitter, bind_rectangle(submitter, a, 3)), std::numeric_limits<double>::infinity());
      EXPECT_EQ(this->lanhe(norm, submitter, bind_rectangle(submitter, a, 3, MatrixPart::Lower)),
                std::numeric_limits<double>::infinity());
    }
    a(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)) = T(std::numeric_limits<R>::quiet_NaN());
    a(1, 1) = T(std::numeric_limits<R>::infinity());
    for (auto const norm : norms) {
      EXPECT_TRUE(std::isnan(this->lange(norm, submitter, bind_rectangle(submitter, a, 3)))) << static_cast<char>(norm);
      EXPECT_TRUE(std::isnan(this->lanhe(norm, submitter, bind_rectangle(submitter, a, 3, MatrixPart::Lower))));
    }
  }
}

TYPED_TEST(Norms, WhatIsNotInThePartDoesNotCount) {
  using T = TypeParam;
  auto a = random_rectangle<T>(10, 10, 4);
  a(2, 6) = T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
  a(3, 4) = T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
  ImmediateSubmitter submitter;
  for (auto const norm : norms) {
    auto const lower = bind_rectangle(submitter, a, 6, MatrixPart::Lower);
    EXPECT_TRUE(std::isfinite(this->lange(norm, submitter, lower)));
    EXPECT_TRUE(std::isfinite(this->lanhe(norm, submitter, lower)));
  }
}

TYPED_TEST(Norms, AMatrixOfZerosHasNormZero) {
  Rectangle<TypeParam> a(9, 9);
  ImmediateSubmitter submitter;
  for (auto const norm : norms) EXPECT_EQ(this->lange(norm, submitter, bind_rectangle(submitter, a, 4)), 0.0);
}

TYPED_TEST(Norms, LanheNeedsOneTriangleOfASquareMatrix) {
  Rectangle<TypeParam> square(8, 8), wide(8, 9);
  ImmediateSubmitter submitter;
  EXPECT_THROW((void)this->lanhe(Norm::One, submitter, bind_rectangle(submitter, square, 4)), InvalidArgument);
  EXPECT_THROW((void)this->lanhe(Norm::One, submitter, bind_rectangle(submitter, wide, 4, MatrixPart::Lower)),
               InvalidArgument);
}

// Every tile is an access of one task.
TEST(NormTasks, EveryTileIsReadOnce) {
  Rectangle<double> a(20, 15);
  for (auto const norm : norms) {
    ImmediateSubmitter submitter(false);
    TaskEmitter tasks(submitter);
    auto const tiles = bind_rectangle(submitter, a, 4);
    auto const result = submitter.add_data({.name = "norm", .bytes = sizeof(double), .origin = {}, .home = {}});
    submit_lange(tasks, norm, tiles, result);
    std::size_t reads_of_tiles = 0;
    for (auto const& task : submitter.tasks) {
      for (auto const& access : task.accesses) {
        reads_of_tiles += submitter.data[access.data.index()].name.starts_with("A(") ? 1 : 0;
      }
    }
    EXPECT_EQ(reads_of_tiles, 20);
    EXPECT_EQ(submitter.tasks.back().accesses.back().data, result);
  }
}

}  // namespace
}  // namespace granary
