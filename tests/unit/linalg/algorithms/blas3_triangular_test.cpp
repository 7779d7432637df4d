// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/blas3.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"
#include "unit/linalg/placed_matrix.hpp"

namespace granary {
namespace {

using testing::every_diag;
using testing::every_layout;
using testing::every_op;
using testing::every_side;
using testing::every_uplo;
using testing::ImmediateSubmitter;
using testing::PlacedMatrix;
using testing::Rectangle;

template <class T>
class Blas3Triangular : public ::testing::Test {};
TYPED_TEST_SUITE(Blas3Triangular, test::Scalars);

struct Case {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
};

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (auto const side : every_side) {
    for (auto const uplo : every_uplo) {
      for (auto const op : every_op) {
        for (auto const diag : every_diag) cases.push_back({side, uplo, op, diag});
      }
    }
  }
  return cases;
}

template <class T>
using Algorithm = void (*)(TaskEmitter&, Side, Uplo, Op, Diag, T, detail::TiledMatrix<T> const&,
                           detail::TiledMatrix<T> const&);

// Runs the algorithm on matrices of any shape; `draw` determines layouts and parts. `difference` gets the case, op(A),
// alpha, B before and B after, and returns the distance of the result from the definition.
template <class T, class Difference>
void test_case(Algorithm<T> algorithm, Case const& at, unsigned draw, detail::Random& random, Difference&& difference) {
  auto const m = 1 + random.below(20), n = 1 + random.below(20), tile = 4 + random.below(5);
  auto const order = at.side == Side::Left ? m : n;
  auto const alpha = draw < 8 ? T(1) : testing::random_eighth<T>(random);
  auto const a = testing::exact_triangles<T>(order, order), b = testing::random_eighths<T>(m, n, 2);
  PlacedMatrix<T> at_a(testing::guarded_triangle(at.uplo, at.diag, a), tile, every_layout[draw % 2]);
  PlacedMatrix<T> at_b(b, tile, every_layout[draw / 2 % 2]);
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  algorithm(tasks, at.side, at.uplo, at.op, at.diag, alpha,
            at_a.bind(submitter, "A", draw % 8 < 4 ? MatrixPart::All : detail::part_of(at.uplo)),
            at_b.bind(submitter, "B"));

  auto const op_of_a = op_of(at.op, testing::triangle_of(at.uplo, at.diag, a));
  ASSERT_EQ(difference(at, op_of_a, alpha, b, at_b.values()), 0)
      << m << " x " << n << " in tiles of " << tile << ", " << static_cast<char>(at.side) << static_cast<char>(at.uplo)
      << static_cast<char>(at.op) << static_cast<char>(at.diag);
  ASSERT_TRUE(at_b.padding_is_untouched());
  detail::TileGrid const grid{m, n, tile};
  auto const steps = at.side == Side::Left ? grid.tile_rows() : grid.tile_cols();
  auto const lanes = at.side == Side::Left ? grid.tile_cols() : grid.tile_rows();
  ASSERT_EQ(submitter.tasks.size(), lanes * steps * (steps + 1) / 2);
  ASSERT_EQ(testing::count_tasks(submitter, "gemm"), lanes * steps * (steps - 1) / 2);
  ASSERT_EQ(testing::total_flops(submitter), detail::flops_per_fma<T> / 2 * static_cast<double>(m * n * order));
}

template <class T, class Difference>
void test_every_case(Algorithm<T> algorithm, Difference&& difference) {
  detail::Random random(4);
  for (auto const& at : every_case()) {
    for (unsigned draw = 0; draw < 16; ++draw) test_case<T>(algorithm, at, draw, random, difference);
  }
}

TYPED_TEST(Blas3Triangular, TrsmSolvesFromEverySideTriangleAndOp) {
  using T = TypeParam;
  test_every_case<T>(trsm<T>, [](Case const& at, auto const& a, T alpha, auto const& b, auto const& x) {
    auto const back = at.side == Side::Left ? testing::multiply(a, x) : testing::multiply(x, a);
    auto const wanted = testing::rectangle_of<T>(b.rows, b.cols, [&](auto i, auto j) { return alpha * b(i, j); });
    return testing::largest_difference(back, wanted);
  });
}

TYPED_TEST(Blas3Triangular, TrmmMultipliesInPlaceFromEverySideTriangleAndOp) {
  using T = TypeParam;
  test_every_case<T>(trmm<T>, [](Case const& at, auto const& a, T alpha, auto const& b, auto const& product) {
    auto const wanted = at.side == Side::Left ? testing::multiply_add(alpha, a, b, T(0), b)
                                              : testing::multiply_add(alpha, b, a, T(0), b);
    return testing::largest_difference(product, wanted);
  });
}

TYPED_TEST(Blas3Triangular, AlphaZeroClearsWithoutALookAtValues) {
  using T = TypeParam;
  auto nan = testing::rectangle_of<T>(9, 9, [](auto, auto) { return T(testing::not_a_number<T>); });
  for (auto const& algorithm : {Algorithm<T>(trsm<T>), Algorithm<T>(trmm<T>)}) {
    auto b = testing::rectangle_of<T>(9, 5, [](auto, auto) { return T(testing::not_a_number<T>); });
    ImmediateSubmitter submitter;
    TaskEmitter tasks(submitter);
    algorithm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(0),
              testing::bind_rectangle(submitter, nan, 4), testing::bind_rectangle(submitter, b, 4));
    EXPECT_EQ(submitter.tasks.size(), 6U);
    EXPECT_EQ(testing::largest_difference(b, Rectangle<T>(9, 5)), 0);
  }
}

TEST(Blas3Priorities, OfTrsmAreTheBottomLevels) {
  for (auto const side : every_side) {
    for (auto const uplo : every_uplo) {
      for (std::uint64_t n = 4; n <= 24; n += 4) {
        ImmediateSubmitter submitter(false);
        TaskEmitter tasks(submitter);
        auto const a = make_temporary_matrix<double>(submitter, square_grid(n, 4), detail::part_of(uplo), "A");
        auto const b = make_temporary_matrix<double>(submitter, square_grid(n, 4), MatrixPart::All, "B");
        trsm(tasks, side, uplo, Op::NoTrans, Diag::NonUnit, 1.0, a, b);
        auto const levels =
            testing::bottom_levels(submitter, [](std::string const& codelet) { return codelet == "gemm" ? 2 : 1; });
        for (std::size_t t = 0; t < levels.size(); ++t) ASSERT_EQ(submitter.tasks[t].priority, levels[t]) << t;
      }
    }
  }
}

}  // namespace
}  // namespace granary
