// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LAPACK's tests of xPOCON and xGECON (xCHKPO, xCHKGE: xGET06), on a runtime: estimates are compared with the condition
// from a computed inverse.
#include <granary/linalg.hpp>

#include <gtest/gtest.h>

#include "lapack/matrix_types.hpp"
#include "unit/linalg/api.hpp"

namespace granary::condition_test {
namespace {

using testing::lapack_threshold;
using testing::Rectangle;
using testing::view_of;

constexpr std::uint64_t tile = 16;

template <class T>
class LapackCondition : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 2, .models = models_off}};
};
TYPED_TEST_SUITE(LapackCondition, testing::Scalars);

template <class T>
[[nodiscard]] long double norm_of(Norm kind, Rectangle<T> const& a) {
  auto const matrix = kind == Norm::One ? a : testing::op_of(Op::Trans, a);
  return testing::long_one_norm(matrix.rows, matrix.cols,
                                [&](std::uint64_t i, std::uint64_t j) { return testing::lengthen<T>(matrix(i, j)); });
}
template <class T>
[[nodiscard]] long double true_condition(Norm kind, Rectangle<T> const& a, Rectangle<T> const& inverse) {
  return 1 / norm_of(kind, a) / norm_of(kind, inverse);
}

TYPED_TEST(LapackCondition, OfPositiveDefiniteMatricesPasses) {
  using T = TypeParam;
  for (int type = 1; type <= 9; ++type) {
    for (std::uint64_t const n : {1, 2, 3, 10, 50}) {
      auto const matrix = testing::positive_definite_type<T>(type, n, 3);
      if (!matrix || matrix->info != 0) continue;
      for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
        auto factor = matrix->elements;
        auto const norm = lanhe(this->runtime, Norm::One, uplo, view_of(factor), tile);
        potrf(this->runtime, uplo, view_of(factor), tile);
        auto inverse = factor;
        auto const found = pocon(this->runtime, uplo, view_of(factor), static_cast<detail::RealOf<T>>(norm), tile);
        potri(this->runtime, uplo, view_of(inverse), tile);
        auto const truth = true_condition(Norm::One, matrix->elements, testing::hermitian_of(uplo, inverse));
        EXPECT_LT(testing::condition_ratio(found, truth), lapack_threshold) << "type " << type << ", n " << n;
      }
    }
  }
}

TYPED_TEST(LapackCondition, OfGeneralMatricesPasses) {
  using T = TypeParam;
  for (int type = 1; type <= 11; ++type) {
    for (std::uint64_t const n : {1, 2, 3, 10, 50}) {
      auto matrix = testing::general_type<T>(type, n, n, 3);
      if (!matrix || matrix->info != 0) continue;
      auto lu = matrix->elements;
      auto const pivots = getrf(this->runtime, view_of(lu), tile);
      auto inverse = testing::rectangle_of<T>(n, n, [](auto i, auto j) { return T(i == j ? 1 : 0); });
      getrs(this->runtime, Op::NoTrans, view_of(lu), pivots, view_of(inverse));
      for (auto const kind : {Norm::One, Norm::Infinity}) {
        auto const norm = lange(this->runtime, kind, view_of(matrix->elements), tile);
        auto const found = gecon(this->runtime, kind, view_of(lu), pivots, static_cast<detail::RealOf<T>>(norm));
        EXPECT_LT(testing::condition_ratio(found, true_condition(kind, matrix->elements, inverse)), lapack_threshold)
            << "type " << type << ", n " << n << ", norm " << static_cast<char>(kind);
      }
    }
  }
}

TYPED_TEST(LapackCondition, OfSingularFactorsIsZero) {
  using T = TypeParam;
  auto a = testing::rectangle_of<T>(40, 40, [](auto i, auto j) { return T(i == j && i != 30 ? 1 : 0); });
  EXPECT_EQ(pocon(this->runtime, Uplo::Lower, view_of(a), 1, tile), 0);
  a(30, 30) = T(1);
  EXPECT_EQ(pocon(this->runtime, Uplo::Lower, view_of(a), 1, tile), 1);
  EXPECT_EQ(pocon(this->runtime, Uplo::Lower, view_of(a), 0, tile), 0);
}

TEST(ConditionRefusals, OfWhatHasNoCondition) {
  Runtime runtime({.workers = 1, .models = models_off});
  testing::LeftView<double> const wide("wide", 6, 8), a("a", 6, 6);
  set(runtime, 0.0, 2.0, a);
  auto const pivots = getrf(runtime, a);
  EXPECT_EQ(testing::refusal([&] { static_cast<void>(pocon(runtime, Uplo::Lower, wide, 1)); }),
            "pocon: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(testing::refusal([&] { static_cast<void>(gecon(runtime, Norm::One, wide, pivots, 1)); }),
            "gecon: A 'wide' (6 x 8) is not square");
  EXPECT_EQ(testing::refusal([&] { static_cast<void>(pocon(runtime, Uplo::Lower, a, -1.5)); }),
            "pocon: the norm of A cannot be -1.5");
  EXPECT_EQ(testing::refusal([&] { static_cast<void>(gecon(runtime, Norm::Max, a, pivots, 1)); }),
            "gecon estimates the condition in the one norm or in the infinity norm, not in another");
}

}  // namespace
}  // namespace granary::condition_test
