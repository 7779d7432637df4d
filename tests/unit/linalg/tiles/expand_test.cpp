// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that run as finer graphs have the same results as their kernels.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>

#include <gtest/gtest.h>

#include <functional>

#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"
#include "unit/linalg/placed_matrix.hpp"

namespace granary {
namespace {

using testing::every_layout;
using testing::every_op;
using testing::every_uplo;
using testing::ImmediateSubmitter;
using testing::PlacedMatrix;
using testing::Rectangle;

template <class T>
class Expansions : public ::testing::Test {
 protected:
  static constexpr std::uint64_t tile = 17;
  static constexpr std::int32_t inner = 5;

  // Runs `emit` on newly placed matrices, without and with finer graphs, and compares the last matrix; the arithmetic
  // is exact.
  using Emit = std::function<void(TaskEmitter&, std::vector<detail::TiledMatrix<T>> const&)>;
  struct Operand {
    Rectangle<T> values;
    MatrixPart part = MatrixPart::All;
  };
  void expect_same(std::vector<Operand> const& operands, Emit const& emit) {
    for (auto const layout : every_layout) {
      auto const whole = run(operands, layout, false, emit);
      EXPECT_EQ(testing::largest_difference(run(operands, layout, true, emit), whole), 0);
    }
  }

 private:
  Rectangle<T> run(std::vector<Operand> const& operands, detail::TileLayout layout, bool expands, Emit const& emit) {
    ImmediateSubmitter submitter;
    submitter.expands = true;
    TaskEmitter tasks(submitter);
    if (expands) tasks.set_inner_tile(inner);
    std::vector<PlacedMatrix<T>> placed;
    std::vector<detail::TiledMatrix<T>> matrices;
    for (auto const& operand : operands) placed.emplace_back(operand.values, tile, layout);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      matrices.push_back(placed[i].bind(submitter, "M" + std::to_string(i), operands[i].part));
    }
    emit(tasks, matrices);
    EXPECT_EQ(submitter.inner_tasks > 0, expands);
    EXPECT_TRUE(placed.back().padding_is_untouched());
    return placed.back().values();
  }
};
TYPED_TEST_SUITE(Expansions, test::Scalars);

TYPED_TEST(Expansions, OfGemm) {
  using T = TypeParam;
  for (auto const op_a : every_op) {
    for (auto const op_b : every_op) {
      for (auto const beta : {T(0), T(0.5)}) {
        auto const a =
            op_a == Op::NoTrans ? testing::random_eighths<T>(23, 19, 1) : testing::random_eighths<T>(19, 23, 1);
        auto const b =
            op_b == Op::NoTrans ? testing::random_eighths<T>(19, 29, 2) : testing::random_eighths<T>(29, 19, 2);
        this->expect_same({{a}, {b}, {testing::random_eighths<T>(23, 29, 3)}},
                          [&](auto& tasks, auto const& m) { gemm(tasks, op_a, op_b, T(-1), m[0], m[1], beta, m[2]); });
      }
    }
  }
}

TYPED_TEST(Expansions, OfHerk) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  for (auto const uplo : every_uplo) {
    for (auto const op : {Op::NoTrans, Op::ConjTrans}) {
      auto const a = op == Op::NoTrans ? testing::random_eighths<T>(23, 19, 1) : testing::random_eighths<T>(19, 23, 1);
      auto const c = testing::ExactCholesky<T>(23).a;
      this->expect_same({{a}, {c, detail::part_of(uplo)}},
                        [&](auto& tasks, auto const& m) { herk<T>(tasks, uplo, op, R(-1), m[0], R(1), m[1]); });
    }
  }
}

TYPED_TEST(Expansions, OfTrsm) {
  using T = TypeParam;
  auto const a = testing::exact_triangles<T>(23, 23);
  for (auto const side : testing::every_side) {
    for (auto const uplo : every_uplo) {
      for (auto const op : every_op) {
        for (auto const diag : testing::every_diag) {
          auto const b =
              side == Side::Left ? testing::random_eighths<T>(23, 19, 2) : testing::random_eighths<T>(19, 23, 2);
          this->expect_same({{testing::guarded_triangle(uplo, diag, a), detail::part_of(uplo)}, {b}},
                            [&](auto& tasks, auto const& m) { trsm(tasks, side, uplo, op, diag, T(3), m[0], m[1]); });
        }
      }
    }
  }
}

TYPED_TEST(Expansions, OfCholesky) {
  using T = TypeParam;
  auto const a = testing::ExactCholesky<T>(45).a;
  for (auto const uplo : every_uplo) {
    // The other triangle is neither read nor written.
    auto const stored = testing::rectangle_of<T>(
        45, 45, [&](std::uint64_t i, std::uint64_t j) { return testing::in_triangle(uplo, i, j) ? a(i, j) : T(1e3); });
    this->expect_same({{stored, detail::part_of(uplo)}}, [&](auto& tasks, auto const& m) { potrf(tasks, m[0]); });
  }
}

TYPED_TEST(Expansions, OfLu) {
  using T = TypeParam;
  auto const a = testing::ExactLu<T>(45, 37).a;
  this->expect_same({{a}}, [&](auto& tasks, auto const& m) { getrf_nopiv(tasks, m[0]); });
}

// A panel has the same bits however many cores share it: it is computed by the same blocks.
TYPED_TEST(Expansions, OfPanels) {
  using T = TypeParam;
  constexpr std::uint64_t rows = 500, cols = 290, block = 128;
  auto const a = testing::random_rectangle<T>(rows, cols, 3);
  auto const factor = [&](detail::TileLayout layout, bool expands) {
    ImmediateSubmitter submitter;
    submitter.expands = expands;
    TaskEmitter tasks(submitter);
    PlacedMatrix<T> placed(a, cols, layout);
    auto const tiles = placed.bind(submitter, "A");
    getrf(tasks, tiles, make_temporary_pivots(submitter, tiles.grid()), {.host_panels = true});
    // 3 blocks: 3 factored, 3 updates, 2 exchanges, and the pivots.
    EXPECT_EQ(submitter.inner_tasks, expands ? 9U : 0U) << block;
    return placed.values();
  };
  for (auto const layout : every_layout) {
    auto const whole = factor(layout, false), shared = factor(layout, true);
    EXPECT_EQ(testing::largest_difference(whole, shared), 0);
  }
}

// The exception of a factorization of tiles of size 16 with sub-tiles of 4 for diag(1, …, 1) with one other pivot.
template <class Error, class Factor>
std::uint64_t order_of_failure(std::uint64_t at, double pivot, MatrixPart part, Factor&& factor) {
  auto const a = testing::rectangle_of<double>(40, 40, [&](std::uint64_t i, std::uint64_t j) {
    return i != j ? 0.0 : i == at ? pivot : 1.0;
  });
  ImmediateSubmitter submitter;
  submitter.expands = true;
  TaskEmitter tasks(submitter);
  PlacedMatrix<double> placed(a, 16, detail::TileLayout::ColumnMajor);
  try {
    factor(tasks, placed.bind(submitter, "A", part));
  } catch (Error const& error) {
    EXPECT_GT(submitter.inner_tasks, 0U);
    return error.order();
  }
  return 0;
}

TEST(ExpansionsInFactorizations, FailuresNameTheRowOfTheMatrix) {
  EXPECT_EQ(order_of_failure<NotPositiveDefinite>(
                26, -1, MatrixPart::Lower, [](auto& tasks, auto const& a) { potrf(tasks, a, {.inner_tile = 4}); }),
            27U);
  EXPECT_EQ(order_of_failure<Singular>(37, 0, MatrixPart::All,
                                       [](auto& tasks, auto const& a) { getrf_nopiv(tasks, a, {.inner_tile = 4}); }),
            38U);
}

TEST(ExpansionsInFactorizations, TilesThatAreNotLargerRunAsTheyAre) {
  ImmediateSubmitter submitter;
  submitter.expands = true;
  TaskEmitter tasks(submitter);
  PlacedMatrix<double> placed(testing::random_positive_definite<double>(40), 16, detail::TileLayout::ColumnMajor);
  potrf(tasks, placed.bind(submitter, "A", MatrixPart::Lower), {.inner_tile = 16});
  EXPECT_EQ(submitter.inner_tasks, 0U);
  EXPECT_EQ(tasks.inner_tile(), 0) << "the options are those of one call";
}

}  // namespace
}  // namespace granary
