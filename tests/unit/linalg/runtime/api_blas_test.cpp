// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products, triangular solves, norms and elementwise operations on Views, with a Runtime.
#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::api_blas_test {
namespace {

using namespace testing;

template <class T>
class ApiBlas : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 2}};
  T alpha = T(2);
  T beta = T(-3);

  // A row-major View of const elements.
  static HostView<T const, Kokkos::LayoutRight> input(Rectangle<T> const& values, std::string const& name) {
    return make_view<T, Kokkos::LayoutRight>(values, name);
  }
  static LeftView<T> output(Rectangle<T> const& values, std::string const& name) {
    return make_view<T, Kokkos::LayoutLeft>(values, name);
  }
  static void expect_equal(LeftView<T> const& view, Rectangle<T> const& values) {
    EXPECT_EQ(largest_difference(values_of(view), values), 0);
  }
};
TYPED_TEST_SUITE(ApiBlas, Scalars);

TYPED_TEST(ApiBlas, Gemm) {
  using T = TypeParam;
  auto const c = random_eighths<T>(50, 40, 3);
  for (auto const op_a : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
    for (auto const op_b : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      auto const a = op_a == Op::NoTrans ? random_eighths<T>(50, 70) : random_eighths<T>(70, 50);
      auto const b = op_b == Op::NoTrans ? random_eighths<T>(70, 40, 2) : random_eighths<T>(40, 70, 2);
      auto const view = this->output(c, "C");
      gemm(this->runtime, op_a, op_b, this->alpha, this->input(a, "A"), this->input(b, "B"), this->beta, view, 32);
      this->expect_equal(view, multiply_add(this->alpha, op_of(op_a, a), op_of(op_b, b), this->beta, c));
    }
  }
}

TYPED_TEST(ApiBlas, HerkAndSyrkUpdateOneTriangle) {
  using T = TypeParam;
  auto const a = random_eighths<T>(50, 70);
  auto const c = hermitian_of(Uplo::Lower, random_eighths<T>(50, 50, 3));
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const h = this->output(c, "C");
    herk(this->runtime, uplo, Op::NoTrans, 2, this->input(a, "A"), -3, h, 32);
    auto const s = this->output(c, "C");
    syrk(this->runtime, uplo, Op::NoTrans, T(2), this->input(a, "A"), T(-3), s, 32);
    auto const one_triangle = [&](Rectangle<T> const& values) {
      return rectangle_of<T>(
          50, 50, [&](std::uint64_t i, std::uint64_t j) { return in_triangle(uplo, i, j) ? values(i, j) : c(i, j); });
    };
    this->expect_equal(h, one_triangle(multiply_add(T(2), a, op_of(Op::ConjTrans, a), T(-3), c)));
    this->expect_equal(s, one_triangle(multiply_add(T(2), a, op_of(Op::Trans, a), T(-3), c)));
  }
}

TYPED_TEST(ApiBlas, Hemm) {
  using T = TypeParam;
  auto const a = random_eighths<T>(50, 50);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const h = hermitian_of(uplo, a);
    auto b = random_eighths<T>(50, 30, 2);
    auto const left = this->output(b, "C");
    hemm(this->runtime, Side::Left, uplo, this->alpha, this->input(a, "A"), this->input(b, "B"), this->beta, left, 32);
    this->expect_equal(left, multiply_add(this->alpha, h, b, this->beta, b));
    b = random_eighths<T>(30, 50, 2);
    auto const right = this->output(b, "C");
    hemm(this->runtime, Side::Right, uplo, this->alpha, this->input(a, "A"), this->input(b, "B"), this->beta, right,
         32);
    this->expect_equal(right, multiply_add(this->alpha, b, h, this->beta, b));
  }
}

TYPED_TEST(ApiBlas, Symm) {
  using T = TypeParam;
  auto const a = random_eighths<T>(50, 50);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto const symmetric = rectangle_of<T>(
        50, 50, [&](std::uint64_t i, std::uint64_t j) { return in_triangle(uplo, i, j) ? a(i, j) : a(j, i); });
    auto b = random_eighths<T>(50, 30, 2);
    auto const left = this->output(b, "C");
    symm(this->runtime, Side::Left, uplo, this->alpha, this->input(a, "A"), this->input(b, "B"), this->beta, left, 16);
    this->expect_equal(left, multiply_add(this->alpha, symmetric, b, this->beta, b));
    b = random_eighths<T>(30, 50, 2);
    auto const right = this->output(b, "C");
    auto call = async::symm(this->runtime, Side::Right, uplo, this->alpha, this->input(a, "A"), this->input(b, "B"),
                            this->beta, right, 32);
    call.wait();
    this->expect_equal(right, multiply_add(this->alpha, b, symmetric, this->beta, b));
  }
}

TYPED_TEST(ApiBlas, TrmmAndTrsmUndoEachOther) {
  using T = TypeParam;
  auto const a = exact_triangles<T>(50, 50);
  for (auto const side : {Side::Left, Side::Right}) {
    auto const b = side == Side::Left ? random_eighths<T>(50, 30, 2) : random_eighths<T>(30, 50, 2);
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      auto const triangle = op_of(Op::ConjTrans, testing::triangle_of(uplo, Diag::NonUnit, a));
      auto const view = this->output(b, "B");
      trmm(this->runtime, side, uplo, Op::ConjTrans, Diag::NonUnit, this->alpha, this->input(a, "A"), view, 16);
      auto const product = side == Side::Left ? multiply(triangle, b) : multiply(b, triangle);
      this->expect_equal(view, multiply_add(T(0), b, Rectangle<T>(b.cols, b.cols), this->alpha, product));
      trsm(this->runtime, side, uplo, Op::ConjTrans, Diag::NonUnit, T(1) / this->alpha, this->input(a, "A"), view, 16);
      this->expect_equal(view, b);
    }
  }
}

TYPED_TEST(ApiBlas, Norms) {
  using T = TypeParam;
  auto a = random_eighths<T>(50, 50);
  a(7, 3) = T(-90);
  auto const largest_column = [](Rectangle<T> const& matrix) {
    double largest = 0;
    for (std::uint64_t j = 0; j < 50; ++j) {
      double sum = 0;
      for (std::uint64_t i = 0; i < 50; ++i) sum += static_cast<double>(detail::modulus(matrix(i, j)));
      largest = std::max(largest, sum);
    }
    return largest;
  };
  auto const view = this->input(a, "A");
  EXPECT_NEAR(lange(this->runtime, Norm::Max, view, 16), 90, 1e-6);
  EXPECT_NEAR(lange(this->runtime, Norm::One, view, 16), largest_column(a), 1e-3);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    EXPECT_NEAR(lanhe(this->runtime, Norm::Infinity, uplo, view, 16), largest_column(hermitian_of(uplo, a)), 1e-3);
  }
}

TYPED_TEST(ApiBlas, ElementwiseOperations) {
  using T = TypeParam;
  auto const a = random_eighths<T>(50, 40);
  auto const b = random_eighths<T>(50, 40, 2);
  auto const view = this->output(b, "B");
  add(this->runtime, this->alpha, this->input(a, "A"), this->beta, view, 16);
  this->expect_equal(view, rectangle_of<T>(50, 40, [&](std::uint64_t i, std::uint64_t j) {
                       return this->alpha * a(i, j) + this->beta * b(i, j);
                     }));
  copy(this->runtime, this->input(a, "A"), view, MatrixPart::All, 16);
  this->expect_equal(view, a);
  copy(this->runtime, this->input(b, "A"), view, MatrixPart::Lower, 16);
  this->expect_equal(
      view, rectangle_of<T>(50, 40, [&](std::uint64_t i, std::uint64_t j) { return i >= j ? b(i, j) : a(i, j); }));
  set(this->runtime, T(2), T(5), view);
  this->expect_equal(view,
                     rectangle_of<T>(50, 40, [](std::uint64_t i, std::uint64_t j) { return i == j ? T(5) : T(2); }));
  LeftView<T> const turned("turned", 40, 50);
  transpose(this->runtime, Op::ConjTrans, this->input(a, "A"), turned, 16);
  this->expect_equal(turned, op_of(Op::ConjTrans, a));
}

TYPED_TEST(ApiBlas, CopyConvertsPrecision) {
  using T = TypeParam;
  using Other = std::conditional_t<detail::is_complex<T>, Kokkos::complex<double>, double>;
  auto const a = random_eighths<T>(50, 40);
  LeftView<Other> const wide("wide", 50, 40);
  LeftView<T> const back("back", 50, 40);
  copy(this->runtime, this->input(a, "A"), wide);
  copy(this->runtime, wide, back);
  EXPECT_EQ(largest_difference(values_of(back), a), 0);
}

}  // namespace
}  // namespace granary::api_blas_test
