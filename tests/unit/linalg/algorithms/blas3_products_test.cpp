// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/algorithms/blas3.hpp>

#include <gtest/gtest.h>

#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"
#include "unit/linalg/placed_matrix.hpp"

namespace granary {
namespace {

using testing::every_layout;
using testing::every_op;
using testing::every_side;
using testing::every_uplo;
using testing::ImmediateSubmitter;
using testing::PlacedMatrix;
using testing::Rectangle;

template <class T>
class Blas3Products : public ::testing::Test {};
TYPED_TEST_SUITE(Blas3Products, test::Scalars);

// Three extents from 1 to 20, a tile size from 4 to 8 and two factors, each 0, 1 or a fraction (complex or not).
template <class T>
struct Draw {
  std::uint64_t m, n, k, tile;
  T alpha, beta;

  explicit Draw(detail::Random& random)
      : m(1 + random.below(20)),
        n(1 + random.below(20)),
        k(1 + random.below(20)),
        tile(4 + random.below(5)),
        alpha(factor(random)),
        beta(factor(random)) {}
  static T factor(detail::Random& random) {
    auto const kind = random.below(4);
    return kind == 0 ? T(0) : kind == 1 ? T(1) : testing::random_eighth<T>(random);
  }
  // The old values of C: NaN if they must not be read.
  [[nodiscard]] Rectangle<T> initial(std::uint64_t rows, std::uint64_t cols) const {
    if (beta != T(0)) return testing::random_eighths<T>(rows, cols, 3);
    return testing::rectangle_of<T>(rows, cols, [](auto, auto) { return T(testing::not_a_number<T>); });
  }
};

Rectangle<double> sized(Op op, std::uint64_t rows, std::uint64_t cols) {
  return op == Op::NoTrans ? Rectangle<double>(rows, cols) : Rectangle<double>(cols, rows);
}
// A random A for which op(A) is rows x cols.
template <class T>
Rectangle<T> random_for(Op op, std::uint64_t rows, std::uint64_t cols, std::uint64_t seed) {
  auto const shape = sized(op, rows, cols);
  return testing::random_eighths<T>(shape.rows, shape.cols, seed);
}

TYPED_TEST(Blas3Products, GemmIsItsDefinitionForEveryOpAndLayout) {
  using T = TypeParam;
  detail::Random random(1);
  for (auto const op_a : every_op) {
    for (auto const op_b : every_op) {
      for (int layouts = 0; layouts < 8; ++layouts) {
        for (int repeat = 0; repeat < 5; ++repeat) {
          Draw<T> const draw(random);
          auto const [m, n, k, tile, alpha, beta] = draw;
          auto const a = random_for<T>(op_a, m, k, 1), b = random_for<T>(op_b, k, n, 2), c = draw.initial(m, n);
          PlacedMatrix<T> at_a(a, tile, every_layout[layouts % 2]), at_b(b, tile, every_layout[layouts / 2 % 2]),
              at_c(c, tile, every_layout[layouts / 4]);
          ImmediateSubmitter submitter;
          TaskEmitter tasks(submitter);
          gemm(tasks, op_a, op_b, alpha, at_a.bind(submitter, "A"), at_b.bind(submitter, "B"), beta,
               at_c.bind(submitter, "C"));
          auto const expected = testing::multiply_add(alpha, op_of(op_a, a), op_of(op_b, b), beta, c);
          ASSERT_EQ(testing::largest_difference(at_c.values(), expected), 0)
              << m << " " << n << " " << k << " " << tile;
          ASSERT_TRUE(at_c.padding_is_untouched());
          detail::TileGrid const grid{m, n, tile};
          auto const inner = alpha == T(0) ? 1 : detail::TileGrid{k, 1, tile}.tile_rows();
          ASSERT_EQ(submitter.tasks.size(), grid.tile_rows() * grid.tile_cols() * inner);
          if (alpha != T(0)) {
            ASSERT_EQ(testing::total_flops(submitter), detail::flops_per_fma<T> * static_cast<double>(m * n * k));
          }
        }
      }
    }
  }
}

TYPED_TEST(Blas3Products, GemmWithBetaZeroNeedsNoValueOfC) {
  using T = TypeParam;
  auto a = testing::random_eighths<T>(9, 9);
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  auto const tiles = testing::bind_rectangle(submitter, a, 4);
  auto const c = detail::make_temporary_matrix<T>(submitter, {9, 9, 4}, MatrixPart::All, "C");
  gemm(tasks, Op::NoTrans, Op::NoTrans, T(1), tiles, tiles, T(0), c);
  ASSERT_EQ(submitter.tasks.size(), 27U);
  EXPECT_EQ(submitter.tasks[0].accesses[2].mode, detail::AccessMode::Write);
  EXPECT_EQ(submitter.tasks[1].accesses[2].mode, detail::AccessMode::ReadWrite);
  auto const square = testing::multiply(a, a);
  EXPECT_EQ(submitter.address<T>(c(2, 2).data)[0], square(8, 8));
}

TYPED_TEST(Blas3Products, AlphaZeroDoesNotLookAtTheValuesOfTheOthers) {
  using T = TypeParam;
  auto nan = testing::rectangle_of<T>(9, 9, [](auto, auto) { return T(testing::not_a_number<T>); });
  auto const before = testing::random_eighths<T>(9, 9);
  auto c = before;
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  auto const a = testing::bind_rectangle(submitter, nan, 4), at_c = testing::bind_rectangle(submitter, c, 4);
  gemm(tasks, Op::NoTrans, Op::NoTrans, T(0), a, a, T(2), at_c);
  herk<T>(tasks, Uplo::Lower, Op::NoTrans, 0, a, 2, at_c);
  hemm(tasks, Side::Left, Uplo::Upper, T(0), a, a, T(2), at_c);
  EXPECT_EQ(c(8, 0), T(8) * before(8, 0));
  EXPECT_EQ(c(0, 8), T(4) * before(0, 8));
  syrk<T>(tasks, Uplo::Upper, Op::NoTrans, T(0), a, T(0), at_c);
  EXPECT_EQ(c(0, 8), T(0));
  EXPECT_EQ(c(8, 0), T(8) * before(8, 0));
}

template <class T, bool Hermitian>
void test_rank_k() {
  detail::Random random(2);
  Op const conjugating = Hermitian ? Op::ConjTrans : Op::Trans;
  for (auto const uplo : every_uplo) {
    for (auto const op : {Op::NoTrans, conjugating}) {
      for (int layouts = 0; layouts < 4; ++layouts) {
        for (int repeat = 0; repeat < 12; ++repeat) {
          Draw<T> draw(random);
          if (Hermitian) draw.alpha = T(detail::real_part(draw.alpha)), draw.beta = T(detail::real_part(draw.beta));
          auto const [unused, n, k, tile, alpha, beta] = draw;
          auto const a = random_for<T>(op, n, k, 1);
          auto c = draw.initial(n, n);
          // LAPACK takes the diagonal of a Hermitian matrix as real, and ignores its imaginary parts.
          auto const stored = Hermitian ? testing::hermitian_of(uplo, c) : c;
          PlacedMatrix<T> at_a(a, tile, every_layout[layouts % 2]), at_c(c, tile, every_layout[layouts / 2]);
          ImmediateSubmitter submitter;
          TaskEmitter tasks(submitter);
          auto const part = repeat % 2 == 0 ? MatrixPart::All : detail::part_of(uplo);
          auto const tiles_a = at_a.bind(submitter, "A"), tiles_c = at_c.bind(submitter, "C", part);
          if constexpr (Hermitian) {
            herk<T>(tasks, uplo, op, detail::real_part(alpha), tiles_a, detail::real_part(beta), tiles_c);
          } else {
            syrk<T>(tasks, uplo, op, alpha, tiles_a, beta, tiles_c);
          }
          auto const left = op_of(op, a);
          auto const expected =
              testing::multiply_add(alpha, left, op_of(Hermitian ? Op::ConjTrans : Op::Trans, left), beta, stored);
          auto const result = at_c.values();
          for (std::uint64_t j = 0; j < n; ++j) {
            for (std::uint64_t i = 0; i < n; ++i) {
              auto const wanted = testing::in_triangle(uplo, i, j) ? expected(i, j) : c(i, j);
              // C's diagonal may keep its imaginary parts if the BLAS has nothing to do.
              bool const untouched = Hermitian && i == j && alpha == T(0) && beta == T(1);
              if (untouched || (wanted != wanted && result(i, j) != result(i, j))) continue;
              ASSERT_EQ(result(i, j), wanted) << i << " " << j << " of " << n;
            }
          }
          ASSERT_TRUE(at_c.padding_is_untouched());
          if (alpha != T(0)) {
            ASSERT_EQ(testing::total_flops(submitter),
                      detail::flops_per_fma<T> / 2 * static_cast<double>(n * (n + 1) * k));
          }
        }
      }
    }
  }
}

TYPED_TEST(Blas3Products, HerkIsItsDefinitionOnOneTriangle) { test_rank_k<TypeParam, true>(); }
TYPED_TEST(Blas3Products, SyrkIsItsDefinitionOnOneTriangle) { test_rank_k<TypeParam, false>(); }

template <class T>
[[nodiscard]] Rectangle<T> symmetric_of(Uplo uplo, Rectangle<T> const& a) {
  return testing::rectangle_of<T>(a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) {
    return testing::in_triangle(uplo, i, j) ? a(i, j) : a(j, i);
  });
}

template <class T, bool Hermitian>
void test_one_triangle() {
  detail::Random random(3);
  for (auto const side : every_side) {
    for (auto const uplo : every_uplo) {
      for (int layouts = 0; layouts < 8; ++layouts) {
        for (int repeat = 0; repeat < 8; ++repeat) {
          Draw<T> const draw(random);
          auto const [m, n, unused, tile, alpha, beta] = draw;
          auto const order = side == Side::Left ? m : n;
          auto const a = testing::random_eighths<T>(order, order, 1), b = testing::random_eighths<T>(m, n, 2);
          auto const c = draw.initial(m, n);
          auto const whole = Hermitian ? testing::hermitian_of(uplo, a) : symmetric_of(uplo, a);
          PlacedMatrix<T> at_a(testing::guarded_triangle(uplo, Diag::NonUnit, a), tile, every_layout[layouts % 2]),
              at_b(b, tile, every_layout[layouts / 2 % 2]), at_c(c, tile, every_layout[layouts / 4]);
          ImmediateSubmitter submitter;
          TaskEmitter tasks(submitter);
          auto const multiply = Hermitian ? hemm<T> : symm<T>;
          multiply(tasks, side, uplo, alpha,
                   at_a.bind(submitter, "A", repeat % 2 == 0 ? MatrixPart::All : detail::part_of(uplo)),
                   at_b.bind(submitter, "B"), beta, at_c.bind(submitter, "C"));
          auto const expected = side == Side::Left ? testing::multiply_add(alpha, whole, b, beta, c)
                                                   : testing::multiply_add(alpha, b, whole, beta, c);
          ASSERT_EQ(testing::largest_difference(at_c.values(), expected), 0)
              << m << " " << n << " " << tile << " " << layouts;
          ASSERT_TRUE(at_c.padding_is_untouched());
          if (alpha != T(0)) {
            ASSERT_EQ(testing::total_flops(submitter), detail::flops_per_fma<T> * static_cast<double>(m * n * order));
          }
        }
      }
    }
  }
}

TYPED_TEST(Blas3Products, HemmReadsOneTriangleFromEitherSide) { test_one_triangle<TypeParam, true>(); }
TYPED_TEST(Blas3Products, SymmReadsOneTriangleFromEitherSide) { test_one_triangle<TypeParam, false>(); }

TEST(Blas3Order, GemmFinishesATileOfCBeforeTheNext) {
  ImmediateSubmitter submitter(false);
  TaskEmitter tasks(submitter);
  auto const matrix = [&](char const* name) {
    return detail::make_temporary_matrix<double>(submitter, {8, 8, 4}, MatrixPart::All, name);
  };
  auto const a = matrix("A"), b = matrix("B"), c = matrix("C");
  gemm(tasks, Op::Trans, Op::NoTrans, 1.0, a, b, 1.0, c);
  std::vector<std::string> seen;
  for (auto const& task : submitter.tasks) {
    std::string line;
    for (auto const& access : task.accesses) line += submitter.data[access.data.index()].name + " ";
    seen.push_back(line);
  }
  std::vector<std::string> const expected{
      "A(0, 0) B(0, 0) C(0, 0) ", "A(1, 0) B(1, 0) C(0, 0) ", "A(0, 1) B(0, 0) C(1, 0) ", "A(1, 1) B(1, 0) C(1, 0) ",
      "A(0, 0) B(0, 1) C(0, 1) ", "A(1, 0) B(1, 1) C(0, 1) ", "A(0, 1) B(0, 1) C(1, 1) ", "A(1, 1) B(1, 1) C(1, 1) ",
  };
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace granary
