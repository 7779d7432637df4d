// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/residuals/residual.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>

#include "lapack/bound_lu.hpp"
#include "lapack/matrix_types.hpp"
#include "support/message_of.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"

namespace granary {
namespace {

using testing::ImmediateSubmitter;
using testing::Rectangle;
using testing::RowMajorTiles;

/// Runs a residual on a submitter: submit(tasks, results) emits the tasks.
template <class T>
class ResidualRun {
 public:
  ImmediateSubmitter submitter;

  template <class Submit>
  double operator()(std::uint64_t order, Submit&& submit) {
    double residual = -1;
    double norm = -1;
    TaskEmitter tasks(submitter);
    submit(tasks, detail::ResidualData{submitter.bind("residual", sizeof(double), &residual),
                                       submitter.bind("norm", sizeof(double), &norm)});
    EXPECT_EQ(submitter.released.size(), temporaries());
    return scaled_residual<T>(residual, norm, order);
  }

 private:
  std::size_t temporaries() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(submitter.data, [](auto const& datum) { return !datum.origin.valid(); }));
  }
};

// A has the layout of one file, the factor that of another.
template <class T>
double tiled_cholesky(Uplo uplo, Rectangle<T> a, Rectangle<T> const& factor, std::uint64_t tile, Bytes memory,
                      MatrixPart part_of_a) {
  ResidualRun<T> run;
  RowMajorTiles<T> tiles(factor, tile);
  auto const tiled_a = testing::bind_rectangle(run.submitter, a, tile, part_of_a);
  auto const tiled_l = tiles.bind(run.submitter, detail::part_of(uplo), "L");
  return run(a.rows, [&](TaskEmitter& tasks, detail::ResidualData const& results) {
    submit_potrf_residual(tasks, tiled_a, tiled_l, memory, results);
  });
}

template <class T>
double tiled_lu(Rectangle<T> a, Rectangle<T> const& lu, std::uint64_t tile, Bytes memory,
                testing::BoundPivots* pivots = nullptr) {
  ResidualRun<T> run;
  auto const data = pivots != nullptr ? pivots->bind(run.submitter) : detail::PivotData{};
  RowMajorTiles<T> tiles(lu, tile);
  auto const tiled_a = testing::bind_rectangle(run.submitter, a, tile);
  auto const tiled_lu = tiles.bind(run.submitter, MatrixPart::All, "LU");
  return run(a.cols, [&](TaskEmitter& tasks, detail::ResidualData const& results) {
    submit_getrf_residual(tasks, tiled_a, tiled_lu, pivots != nullptr ? &data : nullptr, memory, results);
  });
}

template <class T>
double tiled_solve(Op op, MatrixPart part, Rectangle<T> a, Rectangle<T> x, Rectangle<T> const& b, std::uint64_t tile,
                   Bytes memory) {
  ResidualRun<T> run;
  RowMajorTiles<T> tiles(b, tile);
  auto const tiled_a = testing::bind_rectangle(run.submitter, a, tile, part);
  auto const tiled_x = testing::bind_rectangle(run.submitter, x, tile, MatrixPart::All, "X");
  auto const tiled_b = tiles.bind(run.submitter, MatrixPart::All, "B");
  return run(1, [&](TaskEmitter& tasks, detail::ResidualData const& results) {
    submit_solve_residual(tasks, op, tiled_a, tiled_x, tiled_b, memory, results);
  });
}

template <class T>
class Residual : public ::testing::Test {
 protected:
  static constexpr Bytes tiles(std::uint64_t count, std::uint64_t tile) { return count * tile * tile * sizeof(T); }
};
TYPED_TEST_SUITE(Residual, test::Scalars);

TYPED_TEST(Residual, OfACholeskyFactorIsXpot01s) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (std::uint64_t n : {1, 15, 16, 17, 70}) {
      testing::ExactCholesky<T> const known(n, n);
      auto const& a = known.a;
      auto const& factor = known.factor(uplo);
      auto wrong = factor;
      wrong(n - 1, n - 1) *= T(2);
      wrong(uplo == Uplo::Lower ? n / 2 : 0, uplo == Uplo::Lower ? 0 : n / 2) += T(1);
      auto const direct_wrong = testing::cholesky_ratio(uplo, a, wrong);
      for (std::uint64_t const memory : {3, 12, 1000}) {
        for (auto const part : {detail::part_of(uplo), MatrixPart::All}) {
          auto const bytes = this->tiles(memory, 16);
          EXPECT_EQ(tiled_cholesky(uplo, a, factor, 16, bytes, part), 0) << n;
          EXPECT_NEAR(tiled_cholesky(uplo, a, wrong, 16, bytes, part) / direct_wrong, 1, 1e-3) << n;
        }
      }
    }
  }
}

TYPED_TEST(Residual, SeesOneWrongElementWhereverItIs) {
  using T = TypeParam;
  std::uint64_t const n = 23;
  testing::ExactCholesky<T> const known(n);
  auto const& a = known.a;
  auto const& factor = known.lower;
  auto const lu = testing::random_eighths<T>(n, n + 5);
  auto const lower = testing::triangle_of(Uplo::Lower, Diag::Unit, testing::rectangle_of<T>(n, n, lu));
  auto const product = testing::multiply(lower, testing::triangle_of(Uplo::Upper, Diag::NonUnit, lu));
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j < n; ++j) {
      if (j <= i) {
        auto wrong = factor;
        wrong(i, j) += T(1);
        auto const direct = testing::cholesky_ratio(Uplo::Lower, a, wrong);
        ASSERT_NEAR(tiled_cholesky(Uplo::Lower, a, wrong, 8, this->tiles(12, 8), MatrixPart::Lower) / direct, 1, 1e-3)
            << i << " " << j;
      }
      auto wrong = lu;
      wrong(i, j) += T(1);
      auto const direct = testing::lu_ratio(product, wrong);
      ASSERT_GT(direct, 1000);
      ASSERT_NEAR(tiled_lu(product, wrong, 8, this->tiles(12, 8)) / direct, 1, 1e-3) << i << " " << j;
    }
  }
}

TYPED_TEST(Residual, OfLuFactorsIsXget01sForEveryShape) {
  using T = TypeParam;
  for (std::uint64_t m : {1, 7, 8, 20, 33}) {
    for (std::uint64_t n : {1, 8, 9, 20, 40}) {
      auto const k = std::min(m, n);
      auto const lu = testing::random_eighths<T>(m, n, m + n);
      auto const lower = testing::triangle_of(Uplo::Lower, Diag::Unit, testing::rectangle_of<T>(m, k, lu));
      auto const upper = testing::triangle_of(Uplo::Upper, Diag::NonUnit, testing::rectangle_of<T>(k, n, lu));
      auto const a = testing::multiply(lower, upper);
      for (std::uint64_t const memory : {3, 12, 1000}) {
        EXPECT_EQ(tiled_lu(a, lu, 8, this->tiles(memory, 8)), 0) << m << " " << n;
        if (m == 1) continue;  // one row is its own U
        EXPECT_NEAR(tiled_lu(lu, lu, 8, this->tiles(memory, 8)) / testing::lu_ratio(lu, lu), 1, 1e-3);
      }
    }
  }
}

TYPED_TEST(Residual, OfLuFactorsWithRowExchangesIsXget01s) {
  using T = TypeParam;
  for (std::uint64_t m : {1, 8, 20, 33}) {
    for (std::uint64_t n : {1, 9, 20, 40}) {
      auto const a = testing::reversed(testing::ExactLu<T>(m, n).a);
      auto lu = a;
      testing::BoundPivots pivots(detail::TileGrid{m, n, 8});
      auto const exchanges = testing::tiled_getrf(lu, 8, {.leaf_tiles = 100}, pivots).exchanges;
      auto wrong = lu;
      wrong(m - 1, 0) += T(1);
      for (std::uint64_t const memory : {3, 12, 1000}) {
        auto const bytes = this->tiles(memory, 8);
        EXPECT_EQ(tiled_lu(a, lu, 8, bytes, &pivots), 0) << m << " " << n;
        EXPECT_NEAR(tiled_lu(a, wrong, 8, bytes, &pivots) / testing::lu_ratio(a, wrong, exchanges), 1, 1e-3);
      }
    }
  }
}

TYPED_TEST(Residual, OfASolutionIsXget02s) {
  using T = TypeParam;
  for (auto const op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
    for (std::uint64_t m : {1, 8, 21}) {
      for (std::uint64_t n : {1, 9, 30}) {
        for (std::uint64_t columns : {1, 2, 15}) {
          auto const a = testing::random_eighths<T>(m, n);
          auto const op_a = testing::op_of(op, a);
          auto const x = testing::random_eighths<T>(op_a.cols, columns, 2);
          auto const b = testing::multiply(op_a, x);
          auto wrong = b;
          wrong(b.rows - 1, columns - 1) += T(1);
          for (std::uint64_t const memory : {3, 12}) {
            auto const bytes = this->tiles(memory, 8);
            EXPECT_EQ(tiled_solve(op, MatrixPart::All, a, x, b, 8, bytes), 0);
            EXPECT_NEAR(tiled_solve(op, MatrixPart::All, a, x, wrong, 8, bytes) / testing::solve_ratio(op, a, x, wrong),
                        1, 1e-3);
          }
        }
      }
    }
  }
}

TYPED_TEST(Residual, ASolutionHasOneForEachColumn) {
  using T = TypeParam;
  auto const a = testing::random_eighths<T>(21, 21);
  auto x = testing::random_eighths<T>(21, 11, 2);
  auto b = testing::multiply(a, x);
  b(20, 3) += T(1);
  b(0, 9) += T(2);
  ResidualRun<T> run;
  RowMajorTiles<T> tiles(b, 8);
  auto left = a;
  auto const tiled_a = testing::bind_rectangle(run.submitter, left, 8, MatrixPart::All);
  auto const tiled_x = testing::bind_rectangle(run.submitter, x, 8, MatrixPart::All, "X");
  auto const tiled_b = tiles.bind(run.submitter, MatrixPart::All, "B");
  std::vector<double> columns(11, -1);
  auto const largest = run(1, [&](TaskEmitter& tasks, detail::ResidualData results) {
    results.columns = {run.submitter.bind("first columns", 8 * sizeof(double), columns.data()),
                       run.submitter.bind("last columns", 3 * sizeof(double), columns.data() + 8)};
    submit_solve_residual(tasks, Op::NoTrans, tiled_a, tiled_x, tiled_b, this->tiles(12, 8), results);
  });
  auto const norm_of_x = [&](std::uint64_t j) {
    double sum = 0;
    for (std::uint64_t i = 0; i < 21; ++i) sum += std::abs(std::complex<double>(x(i, j)));
    return sum;
  };
  for (std::uint64_t j = 0; j < 11; ++j)
    EXPECT_NEAR(columns[j] * norm_of_x(j), j == 3 ? 1 : j == 9 ? 2 : 0, 1e-12) << j;
  EXPECT_GT(largest, 0);
}

TYPED_TEST(Residual, OfASolutionWithAStoredTriangleIsThatOfTheHermitianMatrix) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const stored = testing::random_eighths<T>(21, 21);
    auto const a = testing::hermitian_of(uplo, stored);
    auto const x = testing::random_eighths<T>(21, 11, 2);
    auto const b = testing::random_eighths<T>(21, 11, 3);
    auto const direct = testing::solve_ratio(Op::NoTrans, a, x, b);
    EXPECT_NEAR(tiled_solve(Op::NoTrans, detail::part_of(uplo), stored, x, b, 8, this->tiles(12, 8)) / direct, 1, 1e-3);
    EXPECT_NEAR(tiled_solve(Op::ConjTrans, detail::part_of(uplo), stored, x, b, 8, this->tiles(12, 8)) / direct, 1,
                1e-3);
  }
}

TYPED_TEST(Residual, IsNotANumberOnceAnElementIsNot) {
  using T = TypeParam;
  testing::ExactCholesky<T> const known(20);
  auto const& a = known.a;
  auto factor = known.lower;
  factor(13, 2) = T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
  EXPECT_TRUE(std::isnan(tiled_cholesky(Uplo::Lower, a, factor, 8, 0, MatrixPart::Lower)));
  EXPECT_TRUE(std::isnan(tiled_lu(a, factor, 8, 0)));
  EXPECT_TRUE(std::isnan(tiled_solve(Op::NoTrans, MatrixPart::All, factor, a, a, 8, 0)));
}

TYPED_TEST(Residual, IgnoresTheOtherTriangle) {
  using T = TypeParam;
  auto const nan = T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
  testing::ExactCholesky<T> const known(20);
  auto a = known.a;
  auto factor = known.lower;
  for (std::uint64_t j = 1; j < 20; ++j) {
    for (std::uint64_t i = 0; i < j; ++i) factor(i, j) = a(i, j) = nan;
  }
  EXPECT_EQ(tiled_cholesky(Uplo::Lower, a, factor, 8, this->tiles(12, 8), MatrixPart::All), 0);
}

TEST(ScaledResidual, OfZerosAndOfNothingThatFits) {
  EXPECT_EQ(scaled_residual<double>(0, 0, 5), 0);
  EXPECT_EQ(scaled_residual<double>(1, 0, 5), 0x1p53);
  EXPECT_EQ(scaled_residual<float>(3, 2, 3), 0x1p23);
  EXPECT_EQ(scaled_residual<Kokkos::complex<float>>(3, 2, 3), 0x1p23);
}

TEST(ResidualBlock, GrowsWithTheMemoryAndFitsInIt) {
  auto const grid = square_grid(100 * 64, 64);
  EXPECT_EQ(residual_block(grid, 1000, 3000), 1U);
  EXPECT_EQ(residual_block(grid, 1000, 11999), 1U);
  EXPECT_EQ(residual_block(grid, 1000, 12000), 2U);
  EXPECT_EQ(residual_block(square_grid(64, 64), 1000, 1000000), 1U);
}

class ResidualGraph : public ::testing::Test {
 protected:
  template <class T = double>
  detail::TiledMatrix<T> matrix(std::uint64_t rows, std::uint64_t cols, std::uint64_t tile,
                                MatrixPart part = MatrixPart::All) {
    return detail::make_temporary_matrix<T>(submitter, {rows, cols, tile}, part, "A");
  }
  ImmediateSubmitter submitter{false};
  TaskEmitter tasks{submitter};
  detail::ResidualData const results{submitter.add_data({.name = "r", .bytes = 8, .origin = {}, .home = {}}),
                                     submitter.add_data({.name = "n", .bytes = 8, .origin = {}, .home = {}})};
};

TEST_F(ResidualGraph, RefusesMatricesThatDoNotMatch) {
  using ::testing::HasSubstr;
  auto const lower = matrix(24, 24, 8, MatrixPart::Lower);
  auto const upper = matrix(24, 24, 8, MatrixPart::Upper);
  auto const all = matrix(24, 24, 8);
  auto const potrf = [&](auto const& a, auto const& l) {
    return test::message_of([&] { submit_potrf_residual(tasks, a, l, 0, results); });
  };
  EXPECT_THAT(potrf(lower, matrix(24, 24, 12, MatrixPart::Lower)), HasSubstr("24 x 24 in tiles of 12"));
  EXPECT_THAT(potrf(lower, matrix(25, 25, 8, MatrixPart::Lower)), HasSubstr("25 x 25"));
  EXPECT_NE(potrf(matrix(24, 16, 8), matrix(24, 16, 8, MatrixPart::Lower)), "accepted");
  EXPECT_NE(potrf(lower, upper), "accepted");
  EXPECT_NE(potrf(all, all), "accepted");

  auto const getrf = [&](auto const& a, auto const& lu) {
    return test::message_of([&] { submit_getrf_residual(tasks, a, lu, nullptr, 0, results); });
  };
  EXPECT_THAT(getrf(all, matrix(24, 16, 8)), HasSubstr("24 x 16"));
  EXPECT_NE(getrf(all, lower), "accepted");
  EXPECT_NE(getrf(upper, all), "accepted");

  auto const solve = [&](Op op, auto const& a, auto const& x, auto const& b) {
    return test::message_of([&] { submit_solve_residual(tasks, op, a, x, b, 0, results); });
  };
  EXPECT_THAT(solve(Op::NoTrans, all, matrix(16, 2, 8), matrix(24, 2, 8)), HasSubstr("16 x 2"));
  EXPECT_NE(solve(Op::NoTrans, all, matrix(24, 2, 8), matrix(24, 3, 8)), "accepted");
  EXPECT_NE(solve(Op::NoTrans, all, matrix(24, 2, 4), matrix(24, 2, 8)), "accepted");
  EXPECT_NE(solve(Op::Trans, matrix(24, 16, 8), matrix(16, 2, 8), matrix(24, 2, 8)), "accepted");
  using Complex = Kokkos::complex<double>;
  auto const hermitian = matrix<Complex>(24, 24, 8, MatrixPart::Lower);
  auto const x = matrix<Complex>(24, 2, 8);
  EXPECT_THAT(solve(Op::Trans, hermitian, x, x), HasSubstr("Hermitian"));
  auto const columns = test::message_of([&] {
    auto more = results;
    more.columns = {results.norm, results.norm};
    submit_solve_residual(tasks, Op::NoTrans, all, all, all, 0, more);
    return 0;
  });
  EXPECT_EQ(columns, "solve_residual has data for 2 tile columns, and X has 3");
  EXPECT_TRUE(submitter.tasks.empty());
}

}  // namespace
}  // namespace granary
