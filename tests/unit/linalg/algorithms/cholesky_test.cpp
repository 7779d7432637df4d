// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/cholesky.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/scalars.hpp"
#include "unit/linalg/bound_matrix.hpp"
#include "unit/linalg/bounds.hpp"
#include "unit/linalg/exact.hpp"

namespace granary {
namespace {

using testing::Dense;
using testing::ImmediateSubmitter;
using testing::Rectangle;

template <class T>
class Cholesky : public ::testing::Test {};
TYPED_TEST_SUITE(Cholesky, test::Scalars);

std::size_t count(ImmediateSubmitter const& submitter, std::string const& codelet) {
  return static_cast<std::size_t>(std::ranges::count(submitter.tasks, codelet, &ImmediateSubmitter::Recorded::codelet));
}

TEST(CholeskyGraph, HasTheTasksOfItsFormula) {
  for (auto const order : {detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking}) {
    for (std::size_t tiles = 1; tiles <= 7; ++tiles) {
      ImmediateSubmitter submitter(false);
      auto const a = make_temporary_matrix<double>(submitter, square_grid(tiles * 8, 8), MatrixPart::Lower, "A");
      TaskEmitter emitter(submitter);
      potrf(emitter, a, {.order = order});
      EXPECT_EQ(count(submitter, "potrf"), tiles);
      EXPECT_EQ(count(submitter, "trsm"), tiles * (tiles - 1) / 2);
      EXPECT_EQ(count(submitter, "syrk"), tiles * (tiles - 1) / 2);
      EXPECT_EQ(count(submitter, "gemm"), tiles * (tiles - 1) * (tiles - 2) / 6);
      EXPECT_EQ(submitter.tasks.size(), tiles * (tiles + 1) * (tiles + 2) / 6);
    }
  }
}

TEST(CholeskyGraph, LetsOnlyUpdatesCommuteIfAsked) {
  for (bool const commuting : {false, true}) {
    ImmediateSubmitter submitter(false);
    auto const a = make_temporary_matrix<double>(submitter, square_grid(32, 8), MatrixPart::Lower, "A");
    TaskEmitter emitter(submitter);
    potrf(emitter, a, {.commuting = commuting});
    for (auto const& task : submitter.tasks) {
      bool const update = task.codelet == "gemm" || task.codelet == "syrk";
      EXPECT_EQ(commutes(task.accesses.back().mode), commuting && update) << task.codelet;
    }
  }
}

TEST(CholeskyGraph, CountsTheFlopsOfTheWholeFactorization) {
  ImmediateSubmitter submitter(false);
  std::uint64_t const n = 1000;
  TaskEmitter emitter(submitter);
  potrf(emitter, make_temporary_matrix<double>(submitter, square_grid(n, 64), MatrixPart::Lower, "A"));
  double const flops = std::accumulate(submitter.tasks.begin(), submitter.tasks.end(), 0.0,
                                       [](double sum, auto const& task) { return sum + task.flops; });
  EXPECT_NEAR(flops, 1e9 / 3, 1e9 / 3 * 0.002);
}

TEST(CholeskyGraph, WritesEachTileLastAndReadsOnlyFinishedOnes) {
  ImmediateSubmitter submitter(false);
  auto const a = make_temporary_matrix<double>(submitter, square_grid(24, 8), MatrixPart::Lower, "A");
  TaskEmitter emitter(submitter);
  potrf(emitter, a);
  std::vector<std::string> seen;
  for (auto const& task : submitter.tasks) {
    std::string line = task.codelet;
    for (auto const& access : task.accesses) {
      line += (writes(access.mode) ? " *" : " ") + submitter.data[access.data.index()].name;
    }
    seen.push_back(line);
  }
  std::vector<std::string> const expected{
      "potrf *A(0, 0)",        "trsm A(0, 0) *A(1, 0)",         "trsm A(0, 0) *A(2, 0)",
      "syrk A(1, 0) *A(1, 1)", "gemm A(2, 0) A(1, 0) *A(2, 1)", "syrk A(2, 0) *A(2, 2)",
      "potrf *A(1, 1)",        "trsm A(1, 1) *A(2, 1)",         "syrk A(2, 1) *A(2, 2)",
      "potrf *A(2, 2)",
  };
  EXPECT_EQ(seen, expected);
}

TEST(CholeskyGraph, OnlyTheStoredTriangleIsRegistered) {
  ImmediateSubmitter submitter(false);
  auto const upper = make_temporary_matrix<double>(submitter, square_grid(24, 8), MatrixPart::Upper, "A");
  ASSERT_EQ(submitter.data.size(), 6U);
  EXPECT_EQ(submitter.data[upper(0, 2).data.index()].name, "A(0, 2)");
  EXPECT_EQ(upper.transposed()(2, 0).layout, detail::TileLayout::ColumnMajor);
}

// LAPACK's factor of the triangle `uplo`, with the other triangle unchanged; 0 or LAPACK's INFO.
template <class T>
int lapack_potrf(Uplo uplo, Rectangle<T>& a) {
  return blas::potrf(uplo, static_cast<int>(a.rows), a.elements.data(), static_cast<int>(a.ld));
}

// The values, with the mark of random_rectangle between the rows and ld.
template <class T>
Rectangle<T> padded(Rectangle<T> const& values, std::uint64_t padding) {
  auto a = testing::random_rectangle<T>(values.rows, values.cols, 1, padding);
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    for (std::uint64_t i = 0; i < a.rows; ++i) a(i, j) = values(i, j);
  }
  return a;
}

template <class T>
void factor_in_tiles(Rectangle<T>& a, std::uint64_t tile, Uplo uplo, CholeskyOptions const& options = {}) {
  ImmediateSubmitter submitter;
  TaskEmitter emitter(submitter);
  potrf(emitter, testing::bind_rectangle(submitter, a, tile, detail::part_of(uplo)), options);
}

TYPED_TEST(Cholesky, IsExactInPlaceForEverySizeAndTriangle) {
  using T = TypeParam;
  for (std::uint64_t n : {1, 15, 16, 17, 31, 64, 100}) {
    testing::ExactCholesky<T> const known(n);
    for (auto const order : {detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking}) {
      for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
        for (std::uint64_t padding : {0, 3}) {
          auto factor = padded(known.a, padding);
          factor_in_tiles(factor, 16, uplo, {.order = order});
          EXPECT_EQ(testing::largest_difference(factor, known.factored(uplo)), 0) << n;
          for (std::uint64_t const stack : {2, 3, 100}) {
            auto stacked = padded(known.a, padding);
            factor_in_tiles(stacked, 16, uplo, {.order = order, .stack = stack});
            EXPECT_EQ(testing::largest_difference(stacked, known.factored(uplo)), 0) << n << " in stacks of " << stack;
          }
        }
      }
    }
  }
}

TYPED_TEST(Cholesky, LeavesTheOtherTriangleAndThePaddingAlone) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const a = padded(testing::random_positive_definite<T>(50), 3);
    auto factor = a;
    factor_in_tiles(factor, 16, uplo);
    EXPECT_TRUE(testing::padding_is_untouched(factor));
    for (std::uint64_t j = 0; j < 50; ++j) {
      for (std::uint64_t i = 0; i < 50; ++i) {
        if (!testing::in_triangle(uplo, i, j)) {
          ASSERT_EQ(factor(i, j), a(i, j));
        }
      }
    }
  }
}

TYPED_TEST(Cholesky, NamesTheOrderThatLapackNames) {
  using T = TypeParam;
  std::uint64_t const n = 50;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (std::uint64_t bad : {0, 15, 16, 33, 49}) {
      auto a = testing::random_positive_definite<T>(n);
      a(bad, bad) = T(-1);
      auto reference = a;
      ASSERT_EQ(lapack_potrf(uplo, reference), static_cast<int>(bad) + 1);
      try {
        factor_in_tiles(a, 16, uplo);
        FAIL() << "accepted";
      } catch (NotPositiveDefinite const& error) {
        EXPECT_EQ(error.order(), bad + 1);
        EXPECT_NE(std::string(error.what()).find("order " + std::to_string(bad + 1)), std::string::npos);
      }
    }
  }
}

TYPED_TEST(Cholesky, SolvesForAnyNumberOfRightHandSides) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    for (std::uint64_t n : {1, 8, 13, 40}) {
      for (std::uint64_t columns : {1, 7, 8, 21}) {
        auto a = testing::ExactCholesky<T>(n).a;
        auto const solution = testing::random_eighths<T>(n, columns, 5);
        testing::RowMajorTiles<T> x(testing::multiply(a, solution), 8);
        ImmediateSubmitter submitter;
        TaskEmitter emitter(submitter);
        auto const factor = testing::bind_rectangle(submitter, a, 8, detail::part_of(uplo));
        potrf(emitter, factor);
        auto const factored = submitter.tasks.size();
        potrs(emitter, factor, x.bind(submitter, MatrixPart::All, "B"));
        EXPECT_EQ(testing::largest_difference(x.values(), solution), 0) << n << " " << columns;
        detail::TileGrid const grid{n, columns, 8};
        EXPECT_EQ(submitter.tasks.size() - factored, grid.tile_rows() * (grid.tile_rows() + 1) * grid.tile_cols());
        double flops = 0;
        for (auto t = factored; t < submitter.tasks.size(); ++t) flops += submitter.tasks[t].flops;
        EXPECT_EQ(flops, detail::flops_per_fma<T> * static_cast<double>(n * n * columns));
      }
    }
  }
}

TYPED_TEST(Cholesky, ReadsTheTriangleOfTheFactorAlone) {
  using T = TypeParam;
  testing::ExactCholesky<T> const known(13);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto guarded = testing::rectangle_of<T>(13, 13, [&](std::uint64_t i, std::uint64_t j) {
      return testing::in_triangle(uplo, i, j) ? known.factor(uplo)(i, j)
                                              : T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
    });
    auto const solution = testing::random_eighths<T>(13, 3, 5);
    auto x = testing::multiply(known.a, solution);
    ImmediateSubmitter submitter;
    TaskEmitter emitter(submitter);
    potrs(emitter, testing::bind_rectangle(submitter, guarded, 8, detail::part_of(uplo)),
          testing::bind_rectangle(submitter, x, 8));
    EXPECT_EQ(testing::largest_difference(x, solution), 0);
  }
}

// H D H with a reflection H and eigenvalues D from 1 down to 1 / condition.
Dense<double> ill_conditioned(std::uint64_t n, double condition) {
  detail::Random random(3);
  std::vector<double> v(n);
  for (auto& element : v) element = 2 * random.uniform() - 1;
  double const length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  for (auto& element : v) element /= length;
  auto const h = [&](std::uint64_t i, std::uint64_t j) { return (i == j ? 1.0 : 0.0) - 2 * v[i] * v[j]; };
  Dense<double> a(n);
  for (std::uint64_t k = 0; k < n; ++k) {
    double const eigenvalue = std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1));
    for (std::uint64_t j = 0; j < n; ++j) {
      for (std::uint64_t i = 0; i < n; ++i) a(i, j) += h(i, k) * eigenvalue * h(k, j);
    }
  }
  return a;
}

// |A - L L^T| <= γ |L| |L^T| (Higham, theorem 10.3), whose entries are at most √(a_ii a_jj) and whose Frobenius norm so
// at most A's trace, below √n ‖A‖_F.
TEST(CholeskyQuality, IsThatOfTheTheoryForAnIllConditionedMatrix) {
  auto const a = ill_conditioned(160, 1e10);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto factor = a;
    ImmediateSubmitter submitter;
    TaskEmitter emitter(submitter);
    potrf(emitter, testing::bind_dense(submitter, factor, 48, uplo));
    double const unit = 160 * std::numeric_limits<double>::epsilon();
    EXPECT_LT(testing::dense_residual(a, factor, uplo), testing::gamma_of<double>(192) * std::sqrt(160) / unit);
  }
}

}  // namespace
}  // namespace granary
