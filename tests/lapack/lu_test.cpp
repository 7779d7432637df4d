// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LAPACK's tests of xGETRF and xGETRS (TESTING/LIN/xCHKGE), on tiles and with tournament pivoting. LAPACK's order 0 is
// omitted: granary refuses empty matrices.
#include <granary/detail/linalg/algorithms/lu.hpp>

#include <gtest/gtest.h>

#include "lapack/bound_lu.hpp"
#include "lapack/matrix_types.hpp"
#include "support/scalars.hpp"

namespace granary::lu_test {
namespace {

using testing::Rectangle;

struct Case {
  int type;
  std::uint64_t m;
  std::uint64_t n;
  std::uint64_t tile;
  LuOptions options;
  friend std::ostream& operator<<(std::ostream& out, Case const& c) {
    return out << "type " << c.type << ", " << c.m << " x " << c.n << ", tile " << c.tile << ", leaf "
               << c.options.leaf_tiles;
  }
};

// All types and shapes of LAPACK's tests, with several tile sizes and with one, two or four tiles per leaf.
template <class Body>
void for_cases(int types, Body&& body) {
  for (int type = 1; type <= types; ++type) {
    for (std::uint64_t const m : {1, 2, 3, 5, 10, 50}) {
      for (std::uint64_t const n : {1, 2, 3, 5, 10, 50}) {
        for (std::uint64_t const tile : {1, 3, 16, 64}) {
          if (tile < 3 && std::max(m, n) > 10) continue;
          for (std::uint64_t const leaf : {1, 2, 4}) {
            body(Case{type,
                      m,
                      n,
                      tile,
                      {.order = leaf == 2 ? detail::FactorOrder::LeftLooking : detail::FactorOrder::RightLooking,
                       .leaf_tiles = leaf}});
          }
        }
      }
    }
  }
}

template <class T>
class LapackLu : public ::testing::Test {};
TYPED_TEST_SUITE(LapackLu, test::Scalars);

TYPED_TEST(LapackLu, FactorsOfAllTypesAndShapesPass) {
  using T = TypeParam;
  double largest = 0;
  for_cases(11, [&](Case const& c) {
    auto const matrix = testing::general_type<T>(c.type, c.m, c.n, 1988 + c.m + c.n);
    if (!matrix) return;
    auto lu = matrix->elements;
    auto const result = testing::tiled_getrf(lu, c.tile, c.options);
    ASSERT_EQ(result.info, matrix->info) << c;
    auto const ratio = testing::lu_ratio(matrix->elements, lu, result.exchanges);
    ASSERT_LT(ratio, testing::lapack_threshold) << c;
    largest = std::max(largest, ratio);
  });
  ::testing::Test::RecordProperty("largest_getrf_ratio", std::to_string(largest));
}

TYPED_TEST(LapackLu, SolutionsOfAllTypesPass) {
  using T = TypeParam;
  double largest = 0;
  for_cases(11, [&](Case const& c) {
    if (c.m != c.n || c.options.leaf_tiles == 4) return;
    auto const matrix = testing::general_type<T>(c.type, c.n, c.n, 1988 + c.n);
    if (!matrix || matrix->info != 0) return;
    auto lu = matrix->elements;
    testing::BoundPivots pivots(detail::TileGrid{c.n, c.n, c.tile});
    testing::tiled_getrf(lu, c.tile, c.options, pivots);
    for (auto const op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      for (std::uint64_t const columns : {1, 2, 15}) {
        auto const exact = testing::random_rectangle<T>(c.n, columns, 7);
        auto const b = testing::multiply(testing::op_of(op, matrix->elements), exact);
        auto x = b;
        testing::tiled_getrs(op, lu, &pivots, x, c.tile);
        auto const ratio = testing::solve_ratio(op, matrix->elements, x, b);
        ASSERT_LT(ratio, testing::lapack_threshold) << c << ", nrhs " << columns << ", op " << static_cast<char>(op);
        largest = std::max(largest, ratio);
      }
    }
  });
  ::testing::Test::RecordProperty("largest_getrs_ratio", std::to_string(largest));
}

// Without pivoting the types of xCHKGE do not pass, neither in LAPACK: they are made diagonally dominant here.
TYPED_TEST(LapackLu, WithoutPivotingDiagonallyDominantMatricesPass) {
  using T = TypeParam;
  for_cases(1, [&](Case const& c) {
    auto a = testing::random_rectangle<T>(c.m, c.n, c.m + c.n);
    for (std::uint64_t k = 0; k < std::min(c.m, c.n); ++k)
      a(k, k) += T(static_cast<detail::RealOf<T>>(2 * std::max(c.m, c.n)));
    auto lu = a;
    testing::tiled_getrf_nopiv(lu, c.tile, c.options);
    ASSERT_LT(testing::lu_ratio(a, lu), testing::lapack_threshold) << c;
    if (c.m != c.n) return;
    for (auto const op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      auto const b = testing::multiply(testing::op_of(op, a), testing::random_rectangle<T>(c.n, 15, 7));
      auto x = b;
      testing::tiled_getrs(op, lu, nullptr, x, c.tile);
      ASSERT_LT(testing::solve_ratio(op, a, x, b), testing::lapack_threshold) << c << ", op " << static_cast<char>(op);
    }
  });
}

TYPED_TEST(LapackLu, WithoutPivotingAZeroPivotIsNamed) {
  using T = TypeParam;
  for (std::uint64_t const n : {1, 2, 3, 5, 10, 50}) {
    for (std::uint64_t const tile : {3, 16}) {
      auto const matrix = testing::general_type<T>(6, n, n, n);  // the last column is zero
      if (!matrix) continue;
      auto lu = matrix->elements;
      for (std::uint64_t k = 0; k + 1 < n; ++k) lu(k, k) += T(static_cast<detail::RealOf<T>>(10 * n));
      try {
        testing::tiled_getrf_nopiv(lu, tile, {});
        ADD_FAILURE() << "a zero pivot was divided by, n " << n;
      } catch (Singular const& error) {
        EXPECT_EQ(error.order(), matrix->info);
      }
    }
  }
}

}  // namespace
}  // namespace granary::lu_test
