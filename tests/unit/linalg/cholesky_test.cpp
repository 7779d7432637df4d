// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/cholesky.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "unit/linalg/bound_matrix.hpp"

namespace granary {
namespace {

using testing::Dense;
using testing::ImmediateSubmitter;

template <class T>
class Cholesky : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
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

TYPED_TEST(Cholesky, AgreesWithLapackInPlaceForEverySizeAndTriangle) {
  using T = TypeParam;
  for (auto const order : {FactorOrder::RightLooking, FactorOrder::LeftLooking}) {
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      for (std::uint64_t n : {1, 15, 16, 17, 31, 64, 100}) {
        for (std::uint64_t padding : {0, 3}) {
          auto const a = testing::random_spd<T>(n, n + padding);
          auto factor = a;
          ImmediateSubmitter submitter;
          TaskEmitter emitter(submitter);
          potrf(emitter, testing::bind_dense(submitter, factor, 16, uplo),
                {.order = order});
          auto const expected = testing::lapack_factor(a, uplo);
          EXPECT_LT(testing::dense_residual(a, factor, uplo), 1) << n;
          for (std::size_t e = 0; e < expected.elements.size(); ++e) {
            ASSERT_NEAR(factor.elements[e], expected.elements[e],
                        200 * std::numeric_limits<T>::epsilon() * std::sqrt(n))
                << n << " " << e;
          }
        }
      }
    }
  }
}

TYPED_TEST(Cholesky, LeavesTheOtherTriangleAndThePaddingAlone) {
  using T = TypeParam;
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const a = testing::random_spd<T>(50, 53);
    auto factor = a;
    ImmediateSubmitter submitter;
    TaskEmitter emitter(submitter);
    potrf(emitter, testing::bind_dense(submitter, factor, 16, uplo));
    for (std::uint64_t j = 0; j < 50; ++j) {
      for (std::uint64_t i = 0; i < 53; ++i) {
        bool const stored = i < 50 && (uplo == Uplo::Lower ? i >= j : i <= j);
        if (!stored) {
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
      auto a = testing::random_spd<T>(n);
      a(bad, bad) = T(-1);
      auto reference = a;
      int const info = blas::potrf(uplo, static_cast<int>(n), reference.elements.data(), static_cast<int>(n));
      ASSERT_EQ(info, static_cast<int>(bad) + 1);
      ImmediateSubmitter submitter;
      try {
        TaskEmitter emitter(submitter);
        potrf(emitter, testing::bind_dense(submitter, a, 16, uplo));
        FAIL() << "accepted";
      } catch (NotPositiveDefinite const& error) {
        EXPECT_EQ(error.order(), bad + 1);
        EXPECT_NE(std::string(error.what()).find("order " + std::to_string(bad + 1)), std::string::npos);
      }
    }
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
