// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/matrix_ops.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"

namespace granary {
namespace {

using testing::bind_rectangle;
using testing::ImmediateSubmitter;
using testing::padding_is_untouched;
using testing::random_rectangle;
using testing::Rectangle;
using testing::rectangle_of;
using testing::RowMajorTiles;

constexpr MatrixPart parts[] = {MatrixPart::All, MatrixPart::Lower, MatrixPart::Upper};

bool in_part(MatrixPart part, std::uint64_t i, std::uint64_t j) {
  return part == MatrixPart::All || (part == MatrixPart::Lower ? i >= j : i <= j);
}

template <class T>
void expect_equal(Rectangle<T> const& a, Rectangle<T> const& expected) {
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    for (std::uint64_t i = 0; i < a.rows; ++i) EXPECT_EQ(a(i, j), expected(i, j)) << i << ", " << j;
  }
}

template <class To, class From>
To as_type(From const& value) {
  if constexpr (detail::is_complex<From>) {
    return To(static_cast<detail::RealOf<To>>(value.real()), static_cast<detail::RealOf<To>>(value.imag()));
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
class MatrixOps : public ::testing::Test {};
TYPED_TEST_SUITE(MatrixOps, test::Scalars);

template <class From, class To>
void check_copies() {
  for (auto const part : parts) {
    for (auto const& [rows, cols] : {std::pair<std::uint64_t, std::uint64_t>{10, 7}, {7, 10}, {40, 40}, {1, 5}}) {
      for (std::uint64_t const tile : {3, 17}) {
        auto a = random_rectangle<From>(rows, cols, 1, 2);
        auto b = random_rectangle<To>(rows, cols, 2, 3);
        auto const expected = rectangle_of<To>(rows, cols, [&](std::uint64_t i, std::uint64_t j) {
          return in_part(part, i, j) ? as_type<To>(a(i, j)) : b(i, j);
        });
        RowMajorTiles<To> by_rows(b, tile);
        ImmediateSubmitter submitter;
        TaskEmitter tasks(submitter);
        auto const from = bind_rectangle(submitter, a, tile, part);
        copy(tasks, from, bind_rectangle(submitter, b, tile, MatrixPart::All, "B"));
        copy(tasks, from, by_rows.bind(submitter, part, "B"));
        expect_equal(b, expected);
        expect_equal(by_rows.values(), expected);
        EXPECT_TRUE(padding_is_untouched(b));
        EXPECT_EQ(submitter.tasks.size(), 2 * count_tiles(from.grid(), part));
      }
    }
  }
}

TYPED_TEST(MatrixOps, CopyEqualsItsDefinitionInAllLayouts) { check_copies<TypeParam, TypeParam>(); }

TEST(MatrixOpsConvert, CopyChangesThePrecision) {
  check_copies<float, double>();
  check_copies<double, float>();
  check_copies<Kokkos::complex<float>, Kokkos::complex<double>>();
  check_copies<Kokkos::complex<double>, Kokkos::complex<float>>();
}

TEST(MatrixOpsConvert, WhatFloatCannotHoldBecomesInfinite) {
  auto a = rectangle_of<double>(2, 2, [](auto i, auto j) { return i == j ? 1e300 : std::nan(""); });
  Rectangle<float> b(2, 2);
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  copy(tasks, bind_rectangle(submitter, a, 2), bind_rectangle(submitter, b, 2));
  EXPECT_EQ(b(0, 0), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(b(1, 0)));
}

TYPED_TEST(MatrixOps, TransposeEqualsItsDefinitionInAllLayouts) {
  using T = TypeParam;
  for (Op const op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
    for (auto const part : parts) {
      auto a = random_rectangle<T>(70, 45, 3, 1);
      bool const plain = op == Op::NoTrans;
      auto b = random_rectangle<T>(plain ? 70 : 45, plain ? 45 : 70, 4, 2);
      auto const moved = testing::op_of(op, a);
      auto const expected = rectangle_of<T>(b.rows, b.cols, [&](std::uint64_t i, std::uint64_t j) {
        return in_part(plain ? part : detail::flip(part), i, j) ? moved(i, j) : b(i, j);
      });
      RowMajorTiles<T> by_rows(b, 20);
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      auto const from = bind_rectangle(submitter, a, 20, part);
      transpose(tasks, op, from, bind_rectangle(submitter, b, 20, MatrixPart::All, "B"));
      transpose(tasks, op, from, by_rows.bind(submitter, plain ? part : detail::flip(part), "B"));
      expect_equal(b, expected);
      expect_equal(by_rows.values(), expected);
    }
  }
}

TYPED_TEST(MatrixOps, SetLeavesTheOtherTriangleAlone) {
  using T = TypeParam;
  for (auto const part : parts) {
    for (auto const& [rows, cols] : {std::pair<std::uint64_t, std::uint64_t>{10, 7}, {7, 10}, {9, 9}}) {
      auto a = random_rectangle<T>(rows, cols, 5, 1);
      RowMajorTiles<T> by_rows(a, 4);
      auto const expected = rectangle_of<T>(rows, cols, [&](std::uint64_t i, std::uint64_t j) {
        return !in_part(part, i, j) ? a(i, j) : i == j ? T(2) : T(-1);
      });
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      set(tasks, T(-1), T(2), bind_rectangle(submitter, a, 4, part));
      set(tasks, T(-1), T(2), by_rows.bind(submitter, part));
      expect_equal(a, expected);
      expect_equal(by_rows.values(), expected);
      EXPECT_TRUE(padding_is_untouched(a));
    }
  }
}

TYPED_TEST(MatrixOps, AddEqualsItsDefinition) {
  using T = TypeParam;
  T const alpha(1.5);
  for (auto const part : parts) {
    for (T const beta : {T(0), T(1), T(-0.5)}) {
      auto a = testing::random_eighths<T>(37, 50, 6, 1);
      auto b = testing::random_eighths<T>(37, 50, 7, 2);
      if (beta == T(0)) b(3, 3) = std::numeric_limits<detail::RealOf<T>>::quiet_NaN();
      RowMajorTiles<T> by_rows(b, 8);
      auto const expected = rectangle_of<T>(37, 50, [&](std::uint64_t i, std::uint64_t j) {
        if (!in_part(part, i, j)) return b(i, j);
        return beta == T(0) ? alpha * a(i, j) : alpha * a(i, j) + beta * b(i, j);
      });
      ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      auto const from = bind_rectangle(submitter, a, 8, part);
      add(tasks, alpha, from, beta, bind_rectangle(submitter, b, 8, part, "B"));
      add(tasks, alpha, from, beta, by_rows.bind(submitter, part, "B"));
      expect_equal(b, expected);
      expect_equal(by_rows.values(), expected);
      if (part == MatrixPart::All && beta == T(0)) {
        EXPECT_EQ(submitter.tasks.front().accesses[1].mode, detail::AccessMode::Write);
      }
    }
  }
}

// Tiles without values are refused when they are read: Zeroed reads none.
TYPED_TEST(MatrixOps, ATemporaryTriangleNeedsTheOtherOneZeroed) {
  using T = TypeParam;
  for (auto const part : {MatrixPart::Lower, MatrixPart::Upper}) {
    auto a = random_rectangle<T>(11, 11, 8, 0);
    ImmediateSubmitter submitter;
    TaskEmitter tasks(submitter);
    auto const from = bind_rectangle(submitter, a, 4, part);
    auto const temporary = [&] { return make_temporary_matrix<T>(submitter, from.grid(), part, "temporary"); };
    EXPECT_THROW(copy(tasks, from, temporary()), std::logic_error);
    auto const copied = temporary(), constant = temporary(), doubled = temporary();
    copy(tasks, from, copied, detail::OtherTriangle::Zeroed);
    set(tasks, T(1), T(2), constant, detail::OtherTriangle::Zeroed);
    add(tasks, T(2), from, T(0), doubled, detail::OtherTriangle::Zeroed);
    T const* const tile = submitter.template address<T>(copied(1, 1).data);
    for (std::uint64_t i = 0; i < 4; ++i) {
      for (std::uint64_t j = 0; j < 4; ++j) {
        EXPECT_EQ(tile[4 * i + j], in_part(part, i, j) ? a(4 + i, 4 + j) : T(0));
      }
    }
    bool const lower = part == MatrixPart::Lower;
    EXPECT_EQ(submitter.template address<T>(constant(0, 0).data)[lower ? 1 : 4], T(0));
    EXPECT_EQ(submitter.template address<T>(constant(0, 0).data)[lower ? 4 : 1], T(1));
    EXPECT_EQ(submitter.template address<T>(doubled(0, 0).data)[0], T(2) * a(0, 0));
  }
}

TYPED_TEST(MatrixOps, WhatDoesNotMatchIsRefused) {
  using T = TypeParam;
  Rectangle<T> square(8, 8), wide(8, 9);
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  auto const a = bind_rectangle(submitter, square, 4);
  auto const lower = bind_rectangle(submitter, square, 4, MatrixPart::Lower);
  auto const upper = bind_rectangle(submitter, square, 4, MatrixPart::Upper);
  auto const b = bind_rectangle(submitter, wide, 4);
  EXPECT_THROW(copy(tasks, a, b), InvalidArgument);
  EXPECT_THROW(copy(tasks, a, bind_rectangle(submitter, square, 5)), InvalidArgument);
  EXPECT_THROW(copy(tasks, a, lower), InvalidArgument);
  EXPECT_THROW(copy(tasks, upper, lower), InvalidArgument);
  EXPECT_THROW(transpose(tasks, Op::Trans, upper, upper), InvalidArgument);
  EXPECT_THROW(transpose(tasks, Op::Trans, b, b), InvalidArgument);
  EXPECT_THROW(transpose(tasks, Op::Trans, a, a), InvalidArgument);
  EXPECT_THROW(add(tasks, T(1), b, T(1), a), InvalidArgument);
  EXPECT_TRUE(submitter.tasks.empty());
}

}  // namespace
}  // namespace granary
