// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of LAPACK's tests on a runtime with two workers, with linalg/residual for the ratios, under a memory limit
// of a few tiles for its accumulators.
#include <granary/linalg.hpp>

#include <gtest/gtest.h>

#include "lapack/bound_lu.hpp"
#include "lapack/matrix_types.hpp"
#include "unit/linalg/api.hpp"

namespace granary::runtime_test {
namespace {

using testing::lapack_threshold;
using testing::view_of;

constexpr std::uint64_t order = 50;
constexpr std::uint64_t tile = 16;
// Twelve data of at most a page: tiles take 1 to 4 KiB.
constexpr Bytes memory = 12 * 4096;

template <class T>
class LapackRuntime : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 2, .host_memory = memory}};
};
TYPED_TEST_SUITE(LapackRuntime, testing::Scalars);

TYPED_TEST(LapackRuntime, CholeskyPasses) {
  using T = TypeParam;
  for (int type = 1; type <= 9; ++type) {
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      auto matrix = *testing::positive_definite_type<T>(type, order, 3);
      auto factor = matrix.elements;
      std::uint64_t info = 0;
      try {
        potrf(this->runtime, uplo, view_of(factor), tile);
      } catch (NotPositiveDefinite const& error) {
        info = error.order();
      }
      ASSERT_EQ(info, matrix.info) << "type " << type;
      if (info != 0) continue;
      auto const ratio = potrf_residual(this->runtime, uplo, view_of(matrix.elements), view_of(factor), tile);
      EXPECT_LT(ratio, lapack_threshold) << "type " << type;
      auto b = testing::multiply(matrix.elements, testing::random_rectangle<T>(order, 15));
      auto x = b;
      potrs(this->runtime, uplo, view_of(factor), view_of(x), tile);
      EXPECT_LT(solve_residual(this->runtime, uplo, view_of(matrix.elements), view_of(x), view_of(b), tile),
                lapack_threshold)
          << "type " << type;
    }
  }
  EXPECT_LE(this->runtime.figures().host_memory_peak, this->runtime.options().host_memory);
}

TYPED_TEST(LapackRuntime, LuPasses) {
  using T = TypeParam;
  for (int type = 1; type <= 11; ++type) {
    for (auto const& [m, n] : {std::pair{order, order}, {order, order / 2}, {order / 2, order}}) {
      auto matrix = *testing::general_type<T>(type, m, n, 3);
      auto lu = matrix.elements;
      Pivots pivots(detail::TileGrid{});
      std::uint64_t info = 0;
      try {
        getrf(this->runtime, view_of(lu), pivots, tile, {.leaf_tiles = 2});
      } catch (Singular const& error) {
        info = error.order();
      }
      ASSERT_EQ(info, matrix.info) << "type " << type;
      EXPECT_LT(getrf_residual(this->runtime, view_of(matrix.elements), view_of(lu), &pivots), lapack_threshold)
          << "type " << type;
      if (info != 0 || m != n) continue;
      for (auto const op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
        auto b = testing::multiply(testing::op_of(op, matrix.elements), testing::random_rectangle<T>(n, 15));
        auto x = b;
        getrs(this->runtime, op, view_of(lu), pivots, view_of(x));
        EXPECT_LT(solve_residual(this->runtime, op, view_of(matrix.elements), view_of(x), view_of(b), tile),
                  lapack_threshold)
            << "type " << type << ", op " << static_cast<char>(op);
      }
    }
  }
  EXPECT_LE(this->runtime.figures().host_memory_peak, this->runtime.options().host_memory);
}

}  // namespace
}  // namespace granary::runtime_test
