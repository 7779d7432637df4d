// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LAPACK's tests of xPOTRF and xPOTRS (TESTING/LIN/xCHKPO), on tiles. LAPACK's order 0 is omitted: granary refuses
// empty matrices.
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/algorithms/inverse.hpp>

#include <gtest/gtest.h>

#include "lapack/matrix_types.hpp"
#include "support/scalars.hpp"

namespace granary {
namespace {

using testing::ImmediateSubmitter;
using testing::Rectangle;

// Overwrites the triangle of A with its factor; returns LAPACK's INFO.
template <class T>
std::uint64_t tiled_potrf(Uplo uplo, Rectangle<T>& a, std::uint64_t tile) {
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  try {
    potrf(tasks, testing::bind_rectangle(submitter, a, tile, detail::part_of(uplo)));
  } catch (NotPositiveDefinite const& error) {
    return error.order();
  }
  return 0;
}

template <class T>
void tiled_potrs(Uplo uplo, Rectangle<T>& factor, Rectangle<T>& b, std::uint64_t tile) {
  ImmediateSubmitter submitter;
  TaskEmitter tasks(submitter);
  potrs(tasks, testing::bind_rectangle(submitter, factor, tile, detail::part_of(uplo)),
        testing::bind_rectangle(submitter, b, tile, MatrixPart::All, "B"));
}

// A matrix type, an order and a tile size of the tests, and the text to print if a test fails.
struct Case {
  int type;
  std::uint64_t n;
  std::uint64_t tile;
  Uplo uplo;
  friend std::ostream& operator<<(std::ostream& out, Case const& c) {
    return out << "type " << c.type << ", n " << c.n << ", tile " << c.tile << ", uplo " << static_cast<char>(c.uplo);
  }
};

template <class Body>
void for_cases(Body&& body) {
  for (int type = 1; type <= 9; ++type) {
    for (std::uint64_t const n : {1, 2, 3, 5, 10, 50}) {
      for (std::uint64_t const tile : {1, 3, 16, 64}) {
        if (tile < 3 && n > 10) continue;
        for (auto const uplo : {Uplo::Lower, Uplo::Upper}) body(Case{type, n, tile, uplo});
      }
    }
  }
}

template <class T>
class LapackCholesky : public ::testing::Test {};
TYPED_TEST_SUITE(LapackCholesky, test::Scalars);

TYPED_TEST(LapackCholesky, FactorsAndSolutionsOfAllTypesPass) {
  using T = TypeParam;
  double largest = 0;
  for_cases([&](Case const& c) {
    auto const matrix = testing::positive_definite_type<T>(c.type, c.n, 1988 + c.n);
    if (!matrix) return;
    auto factor = matrix->elements;
    ASSERT_EQ(tiled_potrf(c.uplo, factor, c.tile), matrix->info) << c;
    if (matrix->info != 0) return;
    auto const ratio = testing::cholesky_ratio(c.uplo, matrix->elements, factor);
    ASSERT_LT(ratio, testing::lapack_threshold) << c;
    largest = std::max(largest, ratio);
    for (std::uint64_t const columns : {1, 2, 15}) {
      auto const exact = testing::random_rectangle<T>(c.n, columns, 7);
      auto const b = testing::multiply(matrix->elements, exact);
      auto x = b;
      tiled_potrs(c.uplo, factor, x, c.tile);
      ASSERT_LT(testing::solve_ratio(Op::NoTrans, matrix->elements, x, b), testing::lapack_threshold)
          << c << ", nrhs " << columns;
    }
  });
  ::testing::Test::RecordProperty("largest_potrf_ratio", std::to_string(largest));
}

TYPED_TEST(LapackCholesky, InversesOfAllTypesPass) {
  using T = TypeParam;
  for_cases([&](Case const& c) {
    auto const matrix = testing::positive_definite_type<T>(c.type, c.n, 1988 + c.n);
    if (!matrix || matrix->info != 0) return;
    auto inverse = matrix->elements;
    ASSERT_EQ(tiled_potrf(c.uplo, inverse, c.tile), 0U) << c;
    ImmediateSubmitter submitter;
    TaskEmitter tasks(submitter);
    potri(tasks, testing::bind_rectangle(submitter, inverse, c.tile, detail::part_of(c.uplo)));
    ASSERT_LT(testing::inverse_ratio(c.uplo, matrix->elements, inverse), testing::lapack_threshold) << c;
  });
}

}  // namespace
}  // namespace granary
