// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/scalars.hpp"
#include "unit/linalg/qr.hpp"

namespace granary::qr_kernels_test {

using namespace detail;

namespace {

using testing::FactoredTiles;
using testing::is_forbidden;
using testing::lapack_threshold;
using testing::QrKind;
using testing::Rectangle;
using testing::Tile;

template <class T>
class QrKernels : public ::testing::Test {
 protected:
  void SetUp() override { set_blas_threads(1); }
};
TYPED_TEST_SUITE(QrKernels, test::Scalars);

struct Shape {
  int rows, cols, ib;
};
// More and fewer rows than columns, primes, no rows; blocks that divide the columns, do not, and are larger; blocks of
// one column, of fewer and of more than QrPanel factors one by one.
constexpr Shape small_shapes[] = {{1, 1, 1},   {1, 1, 4},   {2, 3, 2},   {5, 3, 8},    {13, 13, 4},
                                  {31, 29, 1}, {9, 40, 12}, {40, 9, 12}, {37, 37, 37}, {30, 37, 19}};
constexpr Shape large_shapes[] = {{64, 64, 32}, {50, 71, 19}, {90, 67, 50}, {100, 130, 90}};
constexpr Shape stacks_only[] = {{0, 5, 2}, {0, 1, 1}, {1, 7, 3}, {3, 20, 8}};

// Calls check(kind, shape, layout).
template <class Check>
void for_small_cases(Check const& check) {
  for (auto const layout : testing::layouts) {
    for (auto const kind : testing::every_qr_kind) {
      for (auto const& shape : small_shapes) check(kind, shape, layout);
      for (auto const& shape : stacks_only) {
        if (kind != QrKind::Whole) check(kind, shape, layout);
      }
    }
  }
}
template <class Check>
void for_every_case(Check const& check) {
  for_small_cases(check);
  for (auto const layout : testing::layouts) {
    for (auto const kind : testing::every_qr_kind) {
      for (auto const& shape : large_shapes) check(kind, shape, layout);
    }
  }
}

[[nodiscard]] std::string text(QrKind kind, Shape const& shape, TileLayout layout) {
  constexpr char const* names[] = {"geqrt", "tsqrt", "ttqrt"};
  return names[static_cast<int>(kind)] + (" " + std::to_string(shape.rows)) + "x" + std::to_string(shape.cols) +
         " by " + std::to_string(shape.ib) + (layout == TileLayout::RowMajor ? " by rows" : " by columns");
}

// Enough rows for [R; A].
template <class T>
[[nodiscard]] Rectangle<T> random_values(Shape const& shape, std::uint64_t seed = 1) {
  return testing::random_rectangle<T>(static_cast<std::uint64_t>(shape.rows + shape.cols),
                                      static_cast<std::uint64_t>(shape.cols), seed);
}

TYPED_TEST(QrKernels, FactorEveryShapeAndLayout) {
  using T = TypeParam;
  for_every_case([](QrKind kind, Shape const& shape, TileLayout layout) {
    SCOPED_TRACE(text(kind, shape, layout));
    FactoredTiles<T> tiles(kind, shape.rows, shape.cols, shape.ib, layout, random_values<T>(shape));
    EXPECT_LE(tiles.residual(), lapack_threshold);
    EXPECT_LE(tiles.orthogonality(), lapack_threshold);
    tiles.expect_form();
  });
}

// C, or [C1; C2] (right: [C1 C2]), in tiles: C1 has two rows (columns) more than are used.
template <class T>
struct AppliedTiles {
  using L = testing::Long<T>;
  Side side;
  QrKind kind;
  int first, last, lines;
  Tile<T> c1, c2;

  AppliedTiles(Side of_q, QrKind of_kind, int above, int rows, int count, TileLayout layout)
      : side(of_q),
        kind(of_kind),
        first(above),
        last(rows),
        lines(count),
        c1(side == Side::Left ? above + 2 : count, side == Side::Left ? count : above + 2, layout),
        c2(side == Side::Left ? rows : count, side == Side::Left ? count : rows, layout) {
    c1.fill(testing::forbidden<T>());
    Random random(7);
    for (int i = 0; i < first + last; ++i) {
      for (int k = 0; k < lines; ++k) at(i, k) = testing::random_scalar<T>(random);
    }
  }
  // Entry (i, k) of what Q or Q^H is multiplied by from the left: C, or C^H.
  T& at(int i, int k) {
    auto& tile = i < first ? c1 : c2;
    int const row = i < first ? i : i - first;
    return side == Side::Left ? tile(row, k) : tile(k, row);
  }
  [[nodiscard]] Rectangle<L> values() {
    return testing::rectangle_of<L>(static_cast<std::uint64_t>(first + last), static_cast<std::uint64_t>(lines),
                                    [&](std::uint64_t i, std::uint64_t k) {
                                      auto const value =
                                          testing::lengthen<T>(at(static_cast<int>(i), static_cast<int>(k)));
                                      return side == Side::Left ? value : conjugate(value);
                                    });
  }
  void apply(Op op, FactoredTiles<T>& of, int ib) {
    testing::Workspace<T> workspace(kernels::qr_apply_workspace<T>(lines, ib));
    if (kind == QrKind::Whole) {
      kernels::unmqr(side, op, of.a.view(), of.t.view(), c2.view(), workspace.data());
    } else {
      auto const kernel = kind == QrKind::Stacked ? kernels::tsmqr<T> : kernels::ttmqr<T>;
      kernel(side, op, of.a.view(), of.t.view(), c1.view(), c2.view(), workspace.data());
    }
    EXPECT_TRUE(workspace.kept());
  }
  void expect_rest_untouched() {
    c1.for_each([&](int i, int j, T& value) { ASSERT_EQ(is_forbidden(value), (side == Side::Left ? i : j) >= first); });
    EXPECT_TRUE(c1.padding_untouched() && c2.padding_untouched());
  }
};

// op(Q) C, or C op(Q) = (op(Q)^H C^H)^H, against the reflectors one by one; and back.
template <class T>
void check_applied(QrKind kind, Shape const& shape, TileLayout layout, TileLayout layout_c, Side side, Op op) {
  FactoredTiles<T> factored(kind, shape.rows, shape.cols, shape.ib, layout, random_values<T>(shape));
  AppliedTiles<T> c(side, kind, factored.above(), shape.rows, 11, layout_c);
  auto const before = c.values();
  auto expected = before;
  bool const adjoint = op != Op::NoTrans;
  testing::apply_reflectors(factored.vectors(), factored.taus(), adjoint == (side == Side::Left), expected);
  auto const v = factored.a.entries(), t = factored.t.entries();
  c.apply(op, factored, shape.ib);
  EXPECT_TRUE(testing::same_bits(factored.a.entries(), v) && testing::same_bits(factored.t.entries(), t));
  EXPECT_LE(testing::difference_ratio<T>(expected, c.values()), lapack_threshold);
  c.expect_rest_untouched();
  c.apply(adjoint ? Op::NoTrans : Op::ConjTrans, factored, shape.ib);
  EXPECT_LE(testing::difference_ratio<T>(before, c.values()), lapack_threshold);
}

TYPED_TEST(QrKernels, ApplyQFromEachSideAndBack) {
  using T = TypeParam;
  for_every_case([](QrKind kind, Shape const& shape, TileLayout layout) {
    for (Side const side : testing::sides) {
      for (Op const op : testing::ops) {
        if (is_complex<T> && op == Op::Trans) continue;
        for (TileLayout const of_c : testing::layouts) {
          SCOPED_TRACE(text(kind, shape, layout) + " op " + char(op) + " side " + char(side) + " C " +
                       char('0' + int(of_c)));
          check_applied<T>(kind, shape, layout, of_c, side, op);
        }
      }
    }
  });
}

template <class L>
[[nodiscard]] Rectangle<L> column_of(Rectangle<L> const& a, std::uint64_t col) {
  return testing::rectangle_of<L>(a.rows, 1, [&](std::uint64_t i, std::uint64_t) { return a(i, col); });
}

// Columns of very different sizes: each has a small residual of its own, as nothing overflows or underflows.
TYPED_TEST(QrKernels, ColumnsOfEverySizeAreFactoredAccurately) {
  using T = TypeParam;
  using R = RealOf<T>;
  constexpr bool wide = sizeof(R) == sizeof(double);
  constexpr double exponents[] = {0, wide ? 150 : 18, wide ? -150 : -18, wide ? 300 : 36, wide ? -290 : -30};
  for_small_cases([&](QrKind kind, Shape const& shape, TileLayout layout) {
    SCOPED_TRACE(text(kind, shape, layout));
    auto values = random_values<T>(shape);
    for (std::uint64_t j = 0; j < values.cols; ++j) {
      auto const size = static_cast<R>(std::pow(10.0, exponents[j % std::size(exponents)]));
      for (std::uint64_t i = 0; i < values.rows; ++i) values(i, j) *= T(size);
    }
    FactoredTiles<T> tiles(kind, shape.rows, shape.cols, shape.ib, layout, values);
    auto const product = tiles.product();
    for (std::uint64_t j = 0; j < values.cols; ++j) {
      EXPECT_LE(testing::difference_ratio<T>(column_of(tiles.before, j), column_of(product, j)), lapack_threshold) << j;
    }
    EXPECT_LE(tiles.orthogonality(), lapack_threshold);
  });
}

// Multiples of the smallest positive number: R is rounded to such multiples, but Q is as orthogonal as ever.
TYPED_TEST(QrKernels, SubnormalMatricesHaveAnOrthogonalQ) {
  using T = TypeParam;
  using R = RealOf<T>;
  constexpr R least = std::numeric_limits<R>::denorm_min();
  for_small_cases([&](QrKind kind, Shape const& shape, TileLayout layout) {
    SCOPED_TRACE(text(kind, shape, layout));
    Random random(3);
    auto const rows = static_cast<std::uint64_t>(shape.rows + shape.cols),
               cols = static_cast<std::uint64_t>(shape.cols);
    auto const values = testing::drawn_rectangle<T>(rows, cols, 0, [&] {
      return testing::scalar_of_parts<T>(
          [&] { return least * static_cast<R>(std::round(2e4 * random.uniform() - 1e4)); });
    });
    FactoredTiles<T> tiles(kind, shape.rows, shape.cols, shape.ib, layout, values);
    auto const product = tiles.product();
    long double largest = 0;
    for (std::size_t k = 0; k < product.elements.size(); ++k) {
      largest = std::max(
          largest,
          modulus(decltype(product.elements[k] - product.elements[k])(product.elements[k] - tiles.before.elements[k])));
    }
    EXPECT_LE(largest / static_cast<long double>(least), 3 * static_cast<long double>(tiles.order()));
    EXPECT_LE(tiles.orthogonality(), lapack_threshold);
  });
}

// LAPACK's larfg: H is the identity for a column that is zero below a real diagonal, and R keeps its sign.
TYPED_TEST(QrKernels, ColumnsWithoutEntriesBelowTheDiagonalHaveNoReflector) {
  using T = TypeParam;
  using L = testing::Long<T>;
  for_small_cases([&](QrKind kind, Shape const& shape, TileLayout layout) {
    SCOPED_TRACE(text(kind, shape, layout));
    auto const of = [&](auto const& value) {
      return FactoredTiles<T>(kind, shape.rows, shape.cols, shape.ib, layout, value);
    };
    auto identity = of([](std::uint64_t i, std::uint64_t j) { return T(i == j ? 2 : 0); });
    auto zero = of([](std::uint64_t, std::uint64_t) { return T(0); });
    EXPECT_EQ(identity.before.elements, identity.upper().elements);
    EXPECT_EQ(zero.before.elements, zero.upper().elements);
    for (auto* tiles : {&identity, &zero}) {
      EXPECT_THAT(tiles->taus(), ::testing::Each(L(0)));
      tiles->expect_form();
    }
    auto const values = random_values<T>(shape);
    auto const gap = static_cast<std::uint64_t>(shape.cols / 2);
    auto one = of([&](std::uint64_t i, std::uint64_t j) { return j == gap ? T(0) : values(i, j); });
    if (gap < one.taus().size()) {
      EXPECT_EQ(one.taus()[gap], L(0));
    }
    EXPECT_LE(one.residual(), lapack_threshold);
    EXPECT_LE(one.orthogonality(), lapack_threshold);
  });
}

TYPED_TEST(QrKernels, NaNAndInfinitySpreadToTheRightOnly) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (auto const kind : testing::every_qr_kind) {
    for (R const bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
      auto values = random_values<T>({20, 20, 4});
      for (std::uint64_t i = 0; i < 40; ++i) values(i, 10) = T(bad);
      FactoredTiles<T> tiles(kind, 20, 20, 4, TileLayout::ColumnMajor, values);
      auto const r = tiles.upper();
      for (std::uint64_t j = 0; j < 20; ++j) EXPECT_EQ(is_finite(r(j, j)), j < 10) << j;
    }
  }
}

TYPED_TEST(QrKernels, EmptyTilesAreLeftAlone) {
  using T = TypeParam;
  for (auto const layout : testing::layouts) {
    for (auto const& [rows, cols] : {std::pair{0, 0}, {0, 4}, {4, 0}}) {
      Tile<T> a(rows, cols, layout), t(3, 4, layout), none(4, 0, layout);
      testing::Workspace<T> workspace(
          std::max(kernels::qr_factor_workspace<T>(rows, cols, 3), kernels::qr_apply_workspace<T>(4, 3)));
      kernels::geqrt(a.view(), t.view(), workspace.data());
      kernels::unmqr(Side::Left, Op::NoTrans, a.view(), t.view(), Tile<T>(rows, 4, layout).view(), workspace.data());
      kernels::unmqr(Side::Right, Op::NoTrans, a.view(), t.view(), Tile<T>(0, rows, layout).view(), workspace.data());
      if (cols > 0) continue;
      kernels::tsqrt(none.view(), a.view(), t.view(), workspace.data());
      kernels::ttqrt(none.view(), a.view(), t.view(), workspace.data());
      EXPECT_TRUE(a.padding_untouched() && t.padding_untouched() && workspace.kept());
    }
  }
}

TYPED_TEST(QrKernels, RefuseOperandsThatDoNotMatch) {
  using T = TypeParam;
  std::vector<T> memory(1000);
  auto const tile = [&](int rows, int cols) { return TileView<T>{memory.data(), rows, cols, std::max(1, rows)}; };
  auto* const work = memory.data();
  auto const refused = [](auto const& call, std::string const& message) {
    EXPECT_THAT(call, ::testing::ThrowsMessage<InvalidArgument>(message));
  };
  auto const sizes = [&](auto const& call, std::string const& kernel, std::string const& operands) {
    refused(call, kernel + ": the sizes of " + operands + " do not match");
  };
  sizes([&] { kernels::geqrt(tile(4, 3), tile(2, 2), work); }, "geqrt", "A 4x3 and T 2x2");
  sizes([&] { kernels::geqrt(tile(4, 3), tile(0, 3), work); }, "geqrt", "A 4x3 and T 0x3");
  sizes([&] { kernels::tsqrt(tile(2, 3), tile(4, 3), tile(2, 3), work); }, "tsqrt", "R 2x3, A 4x3 and T 2x3");
  sizes([&] { kernels::tsqrt(tile(3, 3), tile(4, 2), tile(2, 3), work); }, "tsqrt", "R 3x3, A 4x2 and T 2x3");
  sizes([&] { kernels::ttqrt(tile(3, 3), tile(4, 3), tile(2, 2), work); }, "ttqrt", "R 3x3, A 4x3 and T 2x2");

  auto const unmqr = [&](Side side, TileView<T> const& c) {
    return [&, side, c] { kernels::unmqr(side, Op::NoTrans, tile(4, 3), tile(2, 3), c, work); };
  };
  sizes(unmqr(Side::Left, tile(3, 4)), "unmqr", "V 4x3, T 2x3 and C 3x4");
  sizes(unmqr(Side::Right, tile(4, 3)), "unmqr", "V 4x3, T 2x3 and C 4x3");
  sizes([&] { kernels::unmqr(Side::Left, Op::NoTrans, tile(4, 3), tile(2, 2), tile(4, 4), work); }, "unmqr",
        "V 4x3, T 2x2 and C 4x4");
  auto const tsmqr = [&](Side side, TileView<T> const& c1, TileView<T> const& c2) {
    return [&, side, c1, c2] { kernels::tsmqr(side, Op::NoTrans, tile(4, 3), tile(2, 3), c1, c2, work); };
  };
  sizes(tsmqr(Side::Left, tile(2, 5), tile(4, 5)), "tsmqr", "V 4x3, T 2x3, C1 2x5 and C2 4x5");
  sizes(tsmqr(Side::Left, tile(3, 5), tile(3, 5)), "tsmqr", "V 4x3, T 2x3, C1 3x5 and C2 3x5");
  sizes(tsmqr(Side::Left, tile(3, 5), tile(4, 6)), "tsmqr", "V 4x3, T 2x3, C1 3x5 and C2 4x6");
  sizes(tsmqr(Side::Right, tile(5, 3), tile(5, 5)), "tsmqr", "V 4x3, T 2x3, C1 5x3 and C2 5x5");
  sizes([&] { kernels::ttmqr(Side::Left, Op::NoTrans, tile(4, 3), tile(2, 2), tile(3, 5), tile(4, 5), work); }, "ttmqr",
        "V 4x3, T 2x2, C1 3x5 and C2 4x5");

  auto narrow = tile(4, 3);
  narrow.ld = 2;
  refused([&] { kernels::geqrt(narrow, tile(2, 3), work); },
          "geqrt: a 4x3 column-major tile cannot have leading dimension 2");
  auto const transposed = [&] { kernels::unmqr(Side::Left, Op::Trans, tile(4, 3), tile(2, 3), tile(4, 4), work); };
  if (is_complex<T>) {
    refused(transposed, "unmqr: the transpose of a complex Q cannot be applied, only Q and Q^H");
  } else {
    EXPECT_NO_THROW(transposed());
  }
}

}  // namespace
}  // namespace granary::qr_kernels_test
