// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/qr.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "support/message_of.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/bounds.hpp"
#include "unit/linalg/lu.hpp"
#include "unit/linalg/placed_matrix.hpp"

namespace granary {
namespace {

using testing::PlacedMatrix;
using testing::random_rectangle;
using testing::Rectangle;
using testing::rectangle_of;

constexpr QrTree every_tree[] = {
    {},
    {.domain = 1, .top = QrTree::Top::Binary},
    {.domain = 2, .top = QrTree::Top::Greedy},
    {.domain = 3, .top = QrTree::Top::Flat},
};
constexpr std::uint64_t tile = 16;

// The factors of geqrf, and what unmqr makes of other matrices with them; run immediately.
template <class T>
class TiledQr {
 public:
  TiledQr(Rectangle<T> const& a, QrTree const& tree, detail::TileLayout layout, std::int32_t inner_block = 5)
      : m_layout(layout), m_options{.tree = tree}, m_placed(a, tile, layout) {
    m_a.emplace(m_placed.bind(m_submitter, "A"));
    m_reflectors = detail::make_temporary_reflectors<T>(m_submitter, m_a->grid(), tree, inner_block);
    TaskEmitter tasks(m_submitter);
    geqrf(tasks, *m_a, m_reflectors, m_options);
  }
  // R with zeros below, as many rows as A.
  Rectangle<T> r() const {
    auto const factors = m_placed.values();
    return rectangle_of<T>(factors.rows, factors.cols,
                           [&](std::uint64_t i, std::uint64_t j) { return i <= j ? factors(i, j) : T(0); });
  }
  Rectangle<T> apply(Op op, Rectangle<T> const& c) {
    PlacedMatrix<T> placed(c, tile, m_layout);
    TaskEmitter tasks(m_submitter);
    unmqr(tasks, op, *m_a, m_reflectors, placed.bind(m_submitter, "C"), m_options);
    EXPECT_TRUE(placed.padding_is_untouched());
    return placed.values();
  }
  bool untouched() const { return m_placed.padding_is_untouched(); }

 private:
  detail::TileLayout m_layout;
  QrOptions m_options;
  testing::ImmediateSubmitter m_submitter;
  PlacedMatrix<T> m_placed;
  std::optional<detail::TiledMatrix<T>> m_a;
  detail::ReflectorData m_reflectors;
};

// Of matrices whose entries are at most 1, multiplied with Q.
template <class T>
double bound(std::uint64_t rows, std::uint64_t cols) {
  return 20 * static_cast<double>(std::max(rows, cols)) *
         static_cast<double>(std::numeric_limits<detail::RealOf<T>>::epsilon());
}

template <class T>
class Qr : public ::testing::Test {};
TYPED_TEST_SUITE(Qr, test::Scalars);

TYPED_TEST(Qr, MultipliesBackForEveryShapeAndTree) {
  for (auto const layout : testing::every_layout) {
    for (auto const& tree : every_tree) {
      for (auto const& [rows, cols] : testing::every_extents) {
        auto const a = random_rectangle<TypeParam>(rows, cols, rows + cols);
        TiledQr<TypeParam> qr(a, tree, layout);
        EXPECT_TRUE(qr.untouched());
        EXPECT_LE(testing::largest_difference(qr.apply(Op::NoTrans, qr.r()), a), bound<TypeParam>(rows, cols))
            << rows << " " << cols << " domain " << tree.domain;
      }
    }
  }
}

TYPED_TEST(Qr, HasAnUnitaryQ) {
  for (auto const layout : testing::every_layout) {
    for (auto const& tree : every_tree) {
      TiledQr<TypeParam> qr(random_rectangle<TypeParam>(97, 60, 3), tree, layout);
      auto const unit =
          rectangle_of<TypeParam>(97, 97, [](std::uint64_t i, std::uint64_t j) { return TypeParam(i == j ? 1 : 0); });
      auto const q = qr.apply(Op::NoTrans, unit);
      EXPECT_LE(testing::largest_difference(testing::multiply(testing::op_of(Op::ConjTrans, q), q), unit),
                bound<TypeParam>(97, 97));
      EXPECT_LE(testing::largest_difference(qr.apply(Op::ConjTrans, q), unit), bound<TypeParam>(97, 97));
    }
  }
}

TYPED_TEST(Qr, AppliesQToAnyNumberOfColumns) {
  TiledQr<TypeParam> qr(random_rectangle<TypeParam>(70, 33, 3), {.domain = 2}, detail::TileLayout::ColumnMajor);
  for (std::uint64_t const cols : {1, 16, 35}) {
    auto const c = random_rectangle<TypeParam>(70, cols, 8);
    EXPECT_LE(testing::largest_difference(qr.apply(Op::ConjTrans, qr.apply(Op::NoTrans, c)), c),
              bound<TypeParam>(70, 70));
  }
}

// R does not depend on the tree but for the phases of its rows, which are real here: its rows have a real diagonal.
TYPED_TEST(Qr, HasTheSameModuliInRWhateverTheTree) {
  auto const a = testing::dominant<TypeParam>(80, 48);
  TiledQr<TypeParam> flat(a, {}, detail::TileLayout::ColumnMajor);
  auto const known = flat.r();
  for (auto const& tree : every_tree) {
    auto const r = TiledQr<TypeParam>(a, tree, detail::TileLayout::RowMajor).r();
    for (std::uint64_t i = 0; i < 48; ++i) {
      for (auto j = i; j < 48; ++j)
        EXPECT_NEAR(detail::modulus(r(i, j)), detail::modulus(known(i, j)), 200 * bound<TypeParam>(80, 48));
    }
  }
}

TYPED_TEST(Qr, ColumnsOfAnySizeNeitherOverflowNorVanish) {
  using Real = detail::RealOf<TypeParam>;
  auto const scale = std::is_same_v<Real, float> ? Real(1e30F) : static_cast<Real>(1e250);
  for (Real const factor : {scale, 1 / scale}) {
    auto a = random_rectangle<TypeParam>(50, 40, 6);
    for (auto& element : a.elements) element *= TypeParam(factor);
    TiledQr<TypeParam> qr(a, {.domain = 2}, detail::TileLayout::ColumnMajor);
    auto back = qr.apply(Op::NoTrans, qr.r());
    for (auto* of : {&back, &a}) {
      for (auto& element : of->elements) element /= TypeParam(factor);
    }
    EXPECT_LE(testing::largest_difference(back, a), bound<TypeParam>(50, 40));
  }
}

TEST(QrErrors, NameTheMatrixAndTheInnerBlock) {
  testing::ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  auto const rectangle = random_rectangle<double>(40, 40, 1);
  PlacedMatrix<double> placed(rectangle, tile, detail::TileLayout::ColumnMajor);
  auto const a = placed.bind(submitter, "A");
  EXPECT_EQ(test::message_of(
                [&] { static_cast<void>(detail::make_temporary_reflectors<double>(submitter, a.grid(), {}, 0)); }),
            "the inner block of a QR factorization is 0, not 1 or more");
  auto const flat = detail::make_temporary_reflectors<double>(submitter, a.grid(), {}, 8);
  EXPECT_EQ(test::message_of([&] { geqrf(tasks, a, flat, {.tree = {.domain = 1}}); }),
            "geqrf: the triangular factors are not those of a 40 x 40 matrix with tile size 16 and this tree");
}

TEST(QrErrors, RefuseTheTransposeOfAComplexQ) {
  using Complex = Kokkos::complex<double>;
  testing::ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  PlacedMatrix<Complex> placed(random_rectangle<Complex>(20, 20, 1), tile, detail::TileLayout::ColumnMajor);
  auto const a = placed.bind(submitter, "A");
  auto const reflectors = detail::make_temporary_reflectors<Complex>(submitter, a.grid(), {}, 8);
  EXPECT_EQ(test::message_of([&] { unmqr(tasks, Op::Trans, a, reflectors, a); }),
            "unmqr: the transpose of a complex Q cannot be applied, only Q and Q^H");
}

}  // namespace
}  // namespace granary
