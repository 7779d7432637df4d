// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LU factorizations and solves, run immediately, compared with LAPACK and their definitions.
#include <granary/detail/core/base/error.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include "unit/linalg/lu.hpp"

namespace granary {
namespace {

using testing::Extents;
using testing::ImmediateSubmitter;
using testing::LapackLu;
using testing::PlacedMatrix;
using testing::random_rectangle;
using testing::Rectangle;
using testing::rectangle_of;

constexpr detail::FactorOrder every_order[] = {detail::FactorOrder::RightLooking, detail::FactorOrder::LeftLooking};

template <class T>
class Lu : public ::testing::Test {};
TYPED_TEST_SUITE(Lu, testing::Scalars);

template <class T>
Rectangle<T> factor_nopiv(Rectangle<T> const& a, LuOptions const& options = {},
                          detail::TileLayout layout = detail::TileLayout::ColumnMajor) {
  PlacedMatrix<T> placed(a, 16, layout);
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  getrf_nopiv(tasks, placed.bind(submitter, "A"), options);
  EXPECT_TRUE(placed.padding_is_untouched());
  return placed.values();
}

TYPED_TEST(Lu, WithoutPivotingIsExactForEveryShape) {
  for (auto const order : every_order) {
    for (auto const layout : testing::every_layout) {
      for (auto const& [rows, cols] : testing::every_extents) {
        testing::ExactLu<TypeParam> const known(rows, cols);
        auto const factors = factor_nopiv(known.a, {.order = order}, layout);
        EXPECT_EQ(testing::largest_difference(factors, known.factors), 0) << rows << " " << cols;
      }
    }
  }
}

TYPED_TEST(Lu, WhosePanelsFitOneTaskHasLapacksPivots) {
  for (auto const order : every_order) {
    for (auto const layout : testing::every_layout) {
      for (auto const& [rows, cols] : testing::every_extents) {
        auto const a = testing::reversed(testing::ExactLu<TypeParam>(rows, cols).a);
        testing::TiledLu<TypeParam> const lu(a, 16, layout, {.order = order, .leaf_tiles = 100});
        LapackLu<TypeParam> const lapack(a);
        for (std::size_t i = 0; i < lapack.pivots.size(); ++i) {
          ASSERT_EQ(lu.pivots[i], static_cast<std::uint64_t>(lapack.pivots[i])) << rows << " " << cols << " " << i;
        }
        EXPECT_EQ(testing::lu_residual(a, lu.factors, lu.pivots), 0) << rows << " " << cols;
        EXPECT_TRUE(lu.untouched);
        EXPECT_EQ(lu.pivots.zero_pivot(), std::nullopt);
      }
    }
  }
}

TYPED_TEST(Lu, HasTheSameFactorsInStacksAndByColumns) {
  for (auto const layout : testing::every_layout) {
    for (auto const& [rows, cols] : testing::every_extents) {
      auto const a = testing::reversed(testing::ExactLu<TypeParam>(rows, cols).a);
      testing::TiledLu<TypeParam> const known(a, 16, layout, {.leaf_tiles = 100});
      for (std::uint64_t const number : {2, 3, 100}) {
        testing::TiledLu<TypeParam> const stacked(a, 16, layout, {.leaf_tiles = 100, .stack = number});
        EXPECT_EQ(testing::largest_difference(stacked.factors, known.factors), 0) << rows << " " << cols;
        for (std::uint64_t const leaf : {1, 100}) {
          testing::TiledLu<TypeParam> const by_columns(
              a, 16, layout,
              {.order = detail::FactorOrder::LeftLooking, .columns = number, .host_panels = true, .leaf_tiles = leaf});
          EXPECT_EQ(testing::lu_residual(a, by_columns.factors, by_columns.pivots), 0) << rows << " " << cols;
        }
      }
    }
  }
}

TYPED_TEST(Lu, WithATournamentMultipliesBackForEveryShape) {
  for (auto const order : every_order) {
    for (auto const layout : testing::every_layout) {
      for (std::uint64_t leaf : {1, 2, 3}) {
        for (auto const& [rows, cols] : testing::every_extents) {
          auto const a = random_rectangle<TypeParam>(rows, cols, rows + cols);
          testing::TiledLu<TypeParam> const lu(a, 16, layout, {.order = order, .leaf_tiles = leaf});
          EXPECT_LE(testing::lu_residual(a, lu.factors, lu.pivots), testing::lu_bound(lu.factors))
              << rows << " " << cols << " leaf " << leaf;
          EXPECT_TRUE(lu.untouched);
        }
      }
    }
  }
}

TYPED_TEST(Lu, ExchangesRowsForwardAndBack) {
  auto const a = random_rectangle<TypeParam>(100, 70, 4);
  testing::TiledLu<TypeParam> lu(a, 16, detail::TileLayout::ColumnMajor, {.leaf_tiles = 2});
  auto const b = random_rectangle<TypeParam>(100, 35, 5);
  for (auto const layout : testing::every_layout) {
    for (bool const back : {false, true}) {
      PlacedMatrix<TypeParam> placed(b, 16, layout);
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      laswp(tasks, placed.bind(submitter, "B"), testing::bind_pivots(submitter, lu.pivots), lu.pivots.grid(),
            back ? detail::SwapDirection::Backward : detail::SwapDirection::Forward);
      auto const expected = testing::exchange(rectangle_of<TypeParam>(100, 35, b), lu.pivots, 70, back);
      EXPECT_EQ(testing::largest_difference(placed.values(), expected), 0);
    }
  }
}

TYPED_TEST(Lu, SolvesForEveryOperation) {
  using T = TypeParam;
  std::uint64_t const n = 90;
  for (bool const pivoted : {true, false}) {
    testing::ExactLu<T> const known(n, n, 6);
    auto const a = pivoted ? testing::reversed(known.a) : known.a;
    testing::TiledLu<T> lu(a, 16, detail::TileLayout::ColumnMajor, {.leaf_tiles = 100});
    if (!pivoted) lu.factors = factor_nopiv(a);
    for (auto const op : testing::every_op) {
      auto const x = testing::random_eighths<T>(n, 37, 7);
      PlacedMatrix<T> factors(lu.factors, 16, detail::TileLayout::ColumnMajor);
      PlacedMatrix<T> b(testing::multiply(testing::op_of(op, a), x), 16, detail::TileLayout::ColumnMajor);
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      auto const pivots = testing::bind_pivots(submitter, lu.pivots);
      getrs(tasks, op, factors.bind(submitter, "LU"), pivoted ? &pivots : nullptr, b.bind(submitter, "B"));
      EXPECT_EQ(testing::largest_difference(b.values(), x), 0);
    }
  }
}

// Columns in an order that makes every elimination step exact, scaled by powers of 2.
TYPED_TEST(Lu, PermutationMatricesAreFactoredExactly) {
  using T = TypeParam;
  std::uint64_t const n = 70;
  for (std::uint64_t step : {1, 3, 17, 69}) {
    auto const a = rectangle_of<T>(n, n, [&](std::uint64_t i, std::uint64_t j) {
      return i == (j * step + 5) % n ? T(static_cast<detail::RealOf<T>>(1 << (j % 5))) : T(0);
    });
    if (std::gcd(step, n) != 1) continue;
    for (std::uint64_t leaf : {1, 2, 8}) {
      testing::TiledLu<T> const lu(a, 16, detail::TileLayout::ColumnMajor, {.leaf_tiles = leaf});
      EXPECT_EQ(testing::lu_residual(a, lu.factors, lu.pivots), 0) << step << " " << leaf;
      EXPECT_EQ(testing::largest_modulus(testing::unit_lower(lu.factors)), 1);
    }
  }
}

TYPED_TEST(Lu, TellsTheFirstZeroPivotAndGoesOn) {
  using T = TypeParam;
  std::uint64_t const n = 100;
  for (std::uint64_t zero : {0, 15, 16, 50, 99}) {
    auto a = random_rectangle<T>(n, n, 8);
    for (std::uint64_t i = 0; i < n; ++i) a(i, zero) = T(0);
    ASSERT_EQ(LapackLu<T>(a).info, static_cast<int>(zero) + 1);
    for (std::uint64_t leaf : {1, 2, 100}) {
      testing::TiledLu<T> const lu(a, 16, detail::TileLayout::ColumnMajor, {.leaf_tiles = leaf});
      ASSERT_EQ(lu.pivots.zero_pivot(), std::optional(zero + 1)) << leaf;
      EXPECT_LE(testing::lu_residual(a, lu.factors, lu.pivots), testing::lu_bound(lu.factors)) << leaf;
    }
  }
}

TYPED_TEST(Lu, OfSingularMatricesMultipliesBack) {
  using T = TypeParam;
  std::uint64_t const n = 90;
  auto const low_rank = testing::multiply(random_rectangle<T>(n, 20, 9), random_rectangle<T>(20, n, 10));
  auto const ones = rectangle_of<T>(n, n, [](std::uint64_t, std::uint64_t) { return T(1); });
  for (auto const& a : {low_rank, ones, Rectangle<T>(n, n)}) {
    for (std::uint64_t leaf : {1, 2, 100}) {
      testing::TiledLu<T> const lu(a, 16, detail::TileLayout::RowMajor, {.leaf_tiles = leaf});
      if (testing::largest_modulus(a) > 0) {
        EXPECT_LE(testing::lu_residual(a, lu.factors, lu.pivots), testing::lu_bound(lu.factors)) << leaf;
      }
      EXPECT_TRUE(std::isfinite(testing::largest_modulus(lu.factors)));
    }
  }
}

TYPED_TEST(Lu, OfAMatrixWithNaNsEnds) {
  using T = TypeParam;
  for (std::uint64_t place : {0, 40, 80}) {
    auto a = random_rectangle<T>(90, 90, 11);
    a(place, place / 2) = T(testing::not_a_number<T>);
    for (std::uint64_t leaf : {1, 2, 100}) {
      testing::TiledLu<T> const lu(a, 16, detail::TileLayout::ColumnMajor, {.leaf_tiles = leaf});
      for (std::uint64_t i = 0; i < 90; ++i) {
        EXPECT_TRUE(lu.pivots[i] >= i && lu.pivots[i] < 90);
      }
      EXPECT_EQ(testing::largest_modulus(lu.factors), std::numeric_limits<double>::infinity());
    }
  }
}

TYPED_TEST(Lu, WithoutPivotingNamesThePivotThatItRefuses) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  R const subnormal = std::numeric_limits<R>::min() / 2;
  for (std::uint64_t bad : {0, 15, 16, 47, 89}) {
    for (R const value : {R(0), subnormal, testing::not_a_number<T>, std::numeric_limits<R>::infinity()}) {
      auto a = testing::dominant<T>(90, 90);
      for (std::uint64_t i = 0; i < 90; ++i) {
        if (i != bad) a(i, bad) = a(bad, i) = T(0);
      }
      a(bad, bad) = T(value);
      try {
        factor_nopiv(a);
        FAIL() << "accepted";
      } catch (Singular const& error) {
        EXPECT_EQ(error.order(), bad + 1);
        EXPECT_TRUE(error.modulus() == static_cast<double>(value) || std::isnan(value));
        EXPECT_NE(std::string(error.what()).find("pivot " + std::to_string(bad + 1) + " is"), std::string::npos);
      }
    }
  }
}

TEST(LuOptionsTiny, RefusesPivotsThatAreSmallBesideTheirTile) {
  auto a = testing::dominant<double>(40, 40);
  for (std::uint64_t i = 0; i < 40; ++i) {
    if (i != 20) a(i, 20) = a(20, i) = 0;
  }
  a(20, 20) = 1e-12;
  for (double const tiny : {0.0, 1e-15}) {
    auto const factors = factor_nopiv(a, {.tiny = tiny});
    EXPECT_LE(testing::lu_residual(a, factors, testing::identity(40)), testing::lu_bound(factors));
  }
  EXPECT_THROW(factor_nopiv(a, {.tiny = 1e-13}), Singular);
}

// The growth of 2^(n-1), from n = 40 on in the last column.
TEST(LuGrowth, IsWilkinsonsForHisMatrix) {
  std::uint64_t const n = 40;
  auto const a = rectangle_of<double>(n, n, [&](std::uint64_t i, std::uint64_t j) {
    return j + 1 == n || i == j ? 1.0 : i > j ? -1.0 : 0.0;
  });
  for (auto const order : every_order) {
    for (bool const pivoted : {false, true}) {
      PlacedMatrix<double> placed(a, 16, detail::TileLayout::RowMajor);
      Pivots pivots({n, n, 16});
      detail::TileMaxima maxima({n, n, 16});
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      LuOptions const options{.order = order, .leaf_tiles = 100, .growth = testing::bind_growth(submitter, maxima)};
      auto const tiles = placed.bind(submitter, "A");
      pivoted ? getrf(tasks, tiles, testing::bind_pivots(submitter, pivots), options)
              : getrf_nopiv(tasks, tiles, options);
      auto const growth = maxima.growth();
      EXPECT_EQ(growth.matrix, 1);
      EXPECT_EQ(growth.factor, std::ldexp(1.0, n - 1));
      EXPECT_EQ(growth.ratio(), std::ldexp(1.0, n - 1));
    }
  }
}

TEST(LuGrowth, IsMeasuredOnTheValuesBeforeAndAfter) {
  for (auto const& [rows, cols] : testing::every_extents) {
    auto const a = random_rectangle<double>(rows, cols, 12);
    for (auto const order : every_order) {
      PlacedMatrix<double> placed(a, 16, detail::TileLayout::ColumnMajor);
      Pivots pivots({rows, cols, 16});
      detail::TileMaxima maxima({rows, cols, 16});
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      getrf(tasks, placed.bind(submitter, "A"), testing::bind_pivots(submitter, pivots),
            {.order = order, .leaf_tiles = 2, .growth = testing::bind_growth(submitter, maxima)});
      EXPECT_EQ(maxima.growth().matrix, testing::largest_modulus(rectangle_of<double>(rows, cols, a)));
      EXPECT_EQ(maxima.growth().factor, testing::largest_modulus(testing::upper(placed.values())));
    }
  }
}

// Measured by the tasks that change a tile, and by separate tasks.
TYPED_TEST(Lu, GrowthWithoutPivotingIsMeasuredOnTheValuesBeforeAndAfter) {
  using T = TypeParam;
  for (auto const& [rows, cols] : testing::every_extents) {
    auto const a = random_rectangle<T>(rows, cols, 12);
    for (auto const order : every_order) {
      for (std::int32_t const inner_tile : {0, 8}) {
        PlacedMatrix<T> placed(a, 16, detail::TileLayout::RowMajor);
        detail::TileMaxima maxima({rows, cols, 16});
        ImmediateSubmitter submitter;
        TaskEmitter tasks(submitter);
        getrf_nopiv(tasks, placed.bind(submitter, "A"),
                    {.order = order, .growth = testing::bind_growth(submitter, maxima), .inner_tile = inner_tile});
        double const before = testing::largest_modulus(rectangle_of<T>(rows, cols, a));
        double const after = testing::largest_modulus(testing::upper(placed.values()));
        double const rounding = detail::is_complex<T> ? 4.0 * std::numeric_limits<detail::RealOf<T>>::epsilon() : 0;
        EXPECT_NEAR(maxima.growth().matrix, before, rounding * before);
        EXPECT_NEAR(maxima.growth().factor, after, rounding * after);
      }
    }
  }
}

TEST(LuGraph, LetsUpdatesCommuteButThoseThatMeasure) {
  for (bool const measures : {false, true}) {
    ImmediateSubmitter submitter(false);
    TaskEmitter tasks(submitter);
    detail::TileMaxima maxima({48, 48, 16});
    LuOptions options{.commuting = true};
    if (measures) options.growth = testing::bind_growth(submitter, maxima);
    getrf_nopiv(tasks, make_temporary_matrix<double>(submitter, square_grid(48, 16), MatrixPart::All, "A"), options);
    std::vector<bool> gemms;
    for (auto const& task : submitter.tasks) {
      bool const any = std::ranges::any_of(task.accesses, detail::commutes, &detail::Access::mode);
      EXPECT_TRUE(!any || task.codelet == "gemm") << task.codelet;
      if (task.codelet == "gemm") gemms.push_back(any);
    }
    EXPECT_EQ(gemms, (std::vector<bool>{!measures, !measures, !measures, !measures, true}));
  }
}

TEST(LuGrowth, IsNotANumberWhereAnElementIsNone) {
  std::uint64_t const n = 40;
  for (bool const in_first_tile : {false, true}) {
    auto a = rectangle_of<double>(n, n, [](std::uint64_t i, std::uint64_t j) { return i == j ? 4.0 : 1.0; });
    a(in_first_tile ? 0 : n - 1, n - 1) = std::nan("");
    PlacedMatrix<double> placed(a, 16, detail::TileLayout::RowMajor);
    Pivots pivots({n, n, 16});
    detail::TileMaxima maxima({n, n, 16});
    ImmediateSubmitter submitter;
    TaskEmitter tasks(submitter);
    getrf(tasks, placed.bind(submitter, "A"), testing::bind_pivots(submitter, pivots),
          {.growth = testing::bind_growth(submitter, maxima)});
    EXPECT_TRUE(std::isnan(maxima.growth().matrix));
    EXPECT_TRUE(std::isnan(maxima.growth().factor));
  }
}

TEST(LuArguments, ThatDoNotMatchAreRefused) {
  ImmediateSubmitter submitter(false);
  TaskEmitter tasks(submitter);
  detail::TileGrid const grid{40, 40, 16};
  auto const a = make_temporary_matrix<double>(submitter, grid, MatrixPart::All, "A");
  auto const lower = make_temporary_matrix<double>(submitter, grid, MatrixPart::Lower, "L");
  auto const tall = detail::make_temporary_matrix<double>(submitter, {50, 40, 16}, MatrixPart::All, "T");
  auto const fine = detail::make_temporary_matrix<double>(submitter, {40, 40, 8}, MatrixPart::All, "F");
  auto const pivots = make_temporary_pivots(submitter, grid);
  EXPECT_THROW(getrf_nopiv(tasks, lower), InvalidArgument);
  EXPECT_THROW(getrf(tasks, lower, pivots), InvalidArgument);
  EXPECT_THROW(getrf(tasks, fine, pivots), InvalidArgument);
  EXPECT_THROW(getrf(tasks, a, pivots, {.leaf_tiles = 0}), InvalidArgument);
  EXPECT_THROW(getrf(tasks, a, pivots, {.columns = 0}), InvalidArgument);
  LuOptions const too_few{.growth = detail::GrowthData{{DataId(0)}, {DataId(0)}}};
  EXPECT_THROW(getrf_nopiv(tasks, a, too_few), InvalidArgument);
  EXPECT_THROW(getrf(tasks, a, pivots, too_few), InvalidArgument);
  EXPECT_THROW(laswp(tasks, tall, pivots, grid, detail::SwapDirection::Forward), InvalidArgument);
  EXPECT_THROW(laswp(tasks, fine, pivots, grid, detail::SwapDirection::Forward), InvalidArgument);
  EXPECT_THROW(getrs(tasks, Op::NoTrans, tall, &pivots, tall), InvalidArgument);
  EXPECT_THROW(getrs(tasks, Op::NoTrans, a, &pivots, tall), InvalidArgument);
  EXPECT_THROW(getrs(tasks, Op::NoTrans, a, &pivots, fine), InvalidArgument);
  EXPECT_TRUE(submitter.tasks.empty());
}

}  // namespace
}  // namespace granary
