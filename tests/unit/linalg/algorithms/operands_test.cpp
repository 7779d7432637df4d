// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/blas3.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "unit/linalg/immediate_submitter.hpp"

namespace granary::operands_test {
namespace {

using testing::ImmediateSubmitter;
using Complex = Kokkos::complex<double>;

// Refusals of algorithms, before they emit a task.
class RefusedOperands : public ::testing::Test {
 protected:
  detail::TiledMatrix<double> matrix(std::uint64_t rows, std::uint64_t cols, MatrixPart part = MatrixPart::All,
                                     std::uint64_t tile = 4) {
    return detail::make_temporary_matrix<double>(m_submitter, {rows, cols, tile}, part, "M");
  }
  detail::TiledMatrix<Complex> complex_matrix(std::uint64_t order) {
    return make_temporary_matrix<Complex>(m_submitter, square_grid(order, 4), MatrixPart::All, "Z");
  }
  void expect_refused(std::string const& message, std::function<void(TaskEmitter&)> const& call) {
    TaskEmitter tasks(m_submitter);
    try {
      call(tasks);
      FAIL() << "accepted; expected: " << message;
    } catch (InvalidArgument const& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(message));
    }
    EXPECT_TRUE(m_submitter.tasks.empty());
  }

 private:
  ImmediateSubmitter m_submitter{false};
};

TEST_F(RefusedOperands, ShapesThatDoNotMatch) {
  auto const a = matrix(5, 3), b = matrix(3, 7), c = matrix(5, 6), s = matrix(5, 5);
  expect_refused(
      "gemm cannot take A of 5 x 3 in tiles of 4, B of 3 x 7 in tiles of 4 and C of 5 x 6 in tiles of 4: the "
      "shapes do not match",
      [&](auto& tasks) { gemm(tasks, Op::NoTrans, Op::NoTrans, 1.0, a, b, 1.0, c); });
  expect_refused("gemm cannot take", [&](auto& tasks) { gemm(tasks, Op::Trans, Op::NoTrans, 1.0, a, b, 1.0, c); });
  expect_refused("herk cannot take A of 5 x 3 in tiles of 4 and C of 5 x 6",
                 [&](auto& tasks) { herk<double>(tasks, Uplo::Lower, Op::NoTrans, 1, a, 1, c); });
  expect_refused("syrk cannot take A of 5 x 3 in tiles of 4 and C of 5 x 5",
                 [&](auto& tasks) { syrk(tasks, Uplo::Lower, Op::Trans, 1.0, a, 1.0, s); });
  expect_refused("hemm cannot take",
                 [&](auto& tasks) { hemm(tasks, Side::Right, Uplo::Lower, 1.0, s, a, 1.0, matrix(5, 3)); });
  expect_refused("trsm cannot take A of 5 x 5 in tiles of 4 and B of 3 x 7",
                 [&](auto& tasks) { trsm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1.0, s, b); });
  expect_refused("trmm cannot take A of 5 x 3",
                 [&](auto& tasks) { trmm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1.0, a, s); });
  expect_refused("potrs cannot take the factor of 5 x 5 in tiles of 4 and B of 3 x 7",
                 [&](auto& tasks) { potrs(tasks, matrix(5, 5, MatrixPart::Lower), b); });
}

TEST_F(RefusedOperands, TilesOfSeveralSizes) {
  auto const a = matrix(5, 5), c = matrix(5, 5, MatrixPart::All, 8);
  expect_refused(
      "gemm needs tiles of one size, not A of 5 x 5 in tiles of 4, B of 5 x 5 in tiles of 4 and C of 5 x 5 in "
      "tiles of 8",
      [&](auto& tasks) { gemm(tasks, Op::NoTrans, Op::NoTrans, 1.0, a, a, 1.0, c); });
  expect_refused("trsm needs tiles of one size",
                 [&](auto& tasks) { trsm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1.0, a, c); });
}

TEST_F(RefusedOperands, TrianglesThatAreNotStored) {
  auto const upper = matrix(5, 5, MatrixPart::Upper), all = matrix(5, 5), other = matrix(5, 5);
  expect_refused("gemm needs all of A of 5 x 5 in tiles of 4, of which only the upper triangle is stored",
                 [&](auto& tasks) { gemm(tasks, Op::NoTrans, Op::NoTrans, 1.0, upper, all, 1.0, other); });
  expect_refused("herk needs the lower triangle of C",
                 [&](auto& tasks) { herk<double>(tasks, Uplo::Lower, Op::NoTrans, 1, all, 1, upper); });
  expect_refused("hemm needs the lower triangle of A",
                 [&](auto& tasks) { hemm(tasks, Side::Right, Uplo::Lower, 1.0, upper, all, 1.0, other); });
  expect_refused("trsm needs the lower triangle of A of 5 x 5",
                 [&](auto& tasks) { trsm(tasks, Side::Right, Uplo::Lower, Op::NoTrans, Diag::Unit, 1.0, upper, all); });
  expect_refused("trmm needs all of B",
                 [&](auto& tasks) { trmm(tasks, Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1.0, all, upper); });
  expect_refused("potrs needs a factor with one stored triangle", [&](auto& tasks) { potrs(tasks, all, other); });
}

TEST_F(RefusedOperands, OutputsThatAreInputs) {
  auto const a = matrix(5, 5), b = matrix(5, 5);
  expect_refused("gemm overwrites C, whose tile C(0, 0) is also a tile of A, which it reads",
                 [&](auto& tasks) { gemm(tasks, Op::NoTrans, Op::NoTrans, 1.0, a, b, 1.0, a); });
  expect_refused("is also a tile of B",
                 [&](auto& tasks) { gemm(tasks, Op::NoTrans, Op::NoTrans, 1.0, a, b, 1.0, b.transposed()); });
  expect_refused("herk overwrites C", [&](auto& tasks) { herk<double>(tasks, Uplo::Lower, Op::NoTrans, 1, a, 1, a); });
  expect_refused("syrk overwrites C", [&](auto& tasks) { syrk(tasks, Uplo::Upper, Op::NoTrans, 1.0, a, 1.0, a); });
  expect_refused("hemm overwrites C", [&](auto& tasks) { hemm(tasks, Side::Left, Uplo::Upper, 1.0, a, b, 1.0, b); });
  expect_refused("trsm overwrites B, whose tile B(0, 0) is also a tile of A",
                 [&](auto& tasks) { trsm(tasks, Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1.0, a, a); });
  expect_refused("trmm overwrites B",
                 [&](auto& tasks) { trmm(tasks, Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1.0, a, a); });
}

TEST_F(RefusedOperands, TransposesThatWouldLeaveTheTriangleMeaningless) {
  auto const a = complex_matrix(5), c = complex_matrix(5);
  expect_refused("herk of complex matrices takes A or its conjugate transpose, not its transpose",
                 [&](auto& tasks) { herk<Complex>(tasks, Uplo::Lower, Op::Trans, 1, a, 1, c); });
  expect_refused("syrk of complex matrices takes A or its transpose, not its conjugate transpose",
                 [&](auto& tasks) { syrk(tasks, Uplo::Lower, Op::ConjTrans, Complex(1), a, Complex(1), c); });
}

}  // namespace
}  // namespace granary::operands_test
