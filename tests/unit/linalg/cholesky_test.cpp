// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/cholesky.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "unit/linalg/bound_matrix.hpp"
#include "unit/linalg/rectangle.hpp"

namespace granary {
namespace {

using testing::Dense;
using testing::ImmediateSubmitter;
using testing::Rectangle;

template <class T>
class Cholesky : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Cholesky, Scalars);

std::size_t count(ImmediateSubmitter const& submitter, std::string const& codelet) {
  return static_cast<std::size_t>(std::ranges::count(submitter.tasks, codelet, &ImmediateSubmitter::Recorded::codelet));
}

TEST(CholeskyGraph, HasTheTasksOfItsFormula) {
  for (auto const order : {FactorOrder::RightLooking, FactorOrder::LeftLooking}) {
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
  EXPECT_EQ(upper.transposed()(2, 0).layout, Layout::ColumnMajor);
}

// LAPACK's factor of the triangle `uplo`, the other triangle as it was; 0 or LAPACK's INFO.
template <class T>
int lapack_potrf(Uplo uplo, Rectangle<T>& a) {
  return blas::potrf(uplo, static_cast<int>(a.rows), a.elements.data(), static_cast<int>(a.ld));
}

// A Hermitian positive definite matrix, the mark of random_rectangle between its rows and ld.
template <class T>
Rectangle<T> padded_positive_definite(std::uint64_t n, std::uint64_t padding) {
  auto const values = testing::random_positive_definite<T>(n);
  auto a = testing::random_rectangle<T>(n, n, 1, padding);
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < n; ++i) a(i, j) = values(i, j);
  }
  return a;
}

template <class T>
void factor_in_tiles(Rectangle<T>& a, std::uint64_t tile, Uplo uplo, FactorOrder order = FactorOrder::RightLooking) {
  ImmediateSubmitter submitter;
  TaskEmitter emitter(submitter);
  potrf(emitter, testing::bind_rectangle(submitter, a, tile, part_of(uplo)), {.order = order});
}

// The largest element of A - L L^H (or A - U^H U) in units of the arithmetic, n ε max |a|.
template <class T>
double factor_error(Rectangle<T> const& a, Rectangle<T> const& factor, Uplo uplo) {
  auto const triangle = testing::triangle_of(uplo, Diag::NonUnit, factor);
  auto const adjoint = op_of(Op::ConjTrans, triangle);
  auto const product =
      uplo == Uplo::Lower ? testing::multiply(triangle, adjoint) : testing::multiply(adjoint, triangle);
  double const largest = testing::largest_difference(a, Rectangle<T>(a.rows, a.cols));
  double const epsilon = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  return testing::largest_difference(product, a) / (static_cast<double>(a.rows) * epsilon * largest);
}

TYPED_TEST(Cholesky, AgreesWithLapackInPlaceForEverySizeAndTriangle) {
  using T = TypeParam;
  for (auto const order : {FactorOrder::RightLooking, FactorOrder::LeftLooking}) {
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      for (std::uint64_t n : {1, 15, 16, 17, 31, 64, 100}) {
        for (std::uint64_t padding : {0, 3}) {
          auto const a = padded_positive_definite<T>(n, padding);
          auto factor = a, expected = a;
          factor_in_tiles(factor, 16, uplo, order);
          ASSERT_EQ(lapack_potrf(uplo, expected), 0);
          EXPECT_LT(factor_error(a, factor, uplo), 2) << n;
          ASSERT_LE(testing::largest_difference(factor, expected),
                    200 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) * std::sqrt(n))
              << n;
        }
      }
    }
  }
}

TYPED_TEST(Cholesky, LeavesTheOtherTriangleAndThePaddingAlone) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const a = padded_positive_definite<T>(50, 3);
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
        auto a = testing::random_positive_definite<T>(n);
        auto const matrix = a;
        auto const b = testing::random_rectangle<T>(n, columns, 5);
        testing::RowMajorTiles<T> x(b, 8);
        ImmediateSubmitter submitter;
        TaskEmitter emitter(submitter);
        auto const factor = testing::bind_rectangle(submitter, a, 8, part_of(uplo));
        potrf(emitter, factor);
        auto const factored = submitter.tasks.size();
        potrs(emitter, factor, x.bind(submitter, MatrixPart::All, "B"));
        EXPECT_LE(testing::largest_difference(testing::multiply(matrix, x.values()), b),
                  20 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) * static_cast<double>(n))
            << n << " " << columns;
        TileGrid const grid{n, columns, 8};
        EXPECT_EQ(submitter.tasks.size() - factored, grid.tile_rows() * (grid.tile_rows() + 1) * grid.tile_cols());
        double flops = 0;
        for (auto t = factored; t < submitter.tasks.size(); ++t) flops += submitter.tasks[t].flops;
        EXPECT_EQ(flops, flops_per_fma<T> * static_cast<double>(n * n * columns));
      }
    }
  }
}

TYPED_TEST(Cholesky, ReadsTheTriangleOfTheFactorAlone) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto factor = testing::random_positive_definite<T>(13);
    factor_in_tiles(factor, 8, uplo);
    auto guarded = testing::rectangle_of<T>(13, 13, [&](std::uint64_t i, std::uint64_t j) {
      return testing::in_triangle(uplo, i, j) ? factor(i, j) : T(std::numeric_limits<RealOf<T>>::quiet_NaN());
    });
    auto const b = testing::random_rectangle<T>(13, 3, 5);
    auto x = b;
    ImmediateSubmitter submitter;
    TaskEmitter emitter(submitter);
    potrs(emitter, testing::bind_rectangle(submitter, guarded, 8, part_of(uplo)),
          testing::bind_rectangle(submitter, x, 8));
    EXPECT_LE(testing::largest_difference(testing::multiply(testing::random_positive_definite<T>(13), x), b),
              500 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
  }
}

// H D H with a reflection H and eigenvalues D from 1 down to 1 / condition.
Dense<double> ill_conditioned(std::uint64_t n, double condition) {
  Random random(3);
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

TEST(CholeskyQuality, IsLapacksForAnIllConditionedMatrix) {
  auto const a = ill_conditioned(160, 1e10);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto factor = a;
    ImmediateSubmitter submitter;
    TaskEmitter emitter(submitter);
    potrf(emitter, testing::bind_dense(submitter, factor, 48, uplo));
    auto const tiled = testing::dense_residual(a, factor, uplo);
    auto const lapack = testing::dense_residual(a, testing::lapack_factor(a, uplo), uplo);
    EXPECT_LT(tiled, 1);
    EXPECT_LT(tiled, 2 * lapack);
  }
}

}  // namespace
}  // namespace granary
