// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Backward errors and growth on hard matrices, compared with LAPACK's. It prints the tables of docs/accuracy.md. The
// required bounds are those that the theory proves for the computed factors (unit/linalg/bounds.hpp).
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/linalg.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "lapack/bound_lu.hpp"
#include "lapack/hard_matrices.hpp"
#include "unit/linalg/api.hpp"
#include "unit/linalg/lu.hpp"

namespace granary::accuracy_test {
namespace {

using testing::Rectangle;
using testing::view_of;

constexpr std::uint64_t order = 160;
constexpr std::uint64_t tile = 16;
// Tile rows in a leaf of the tournament; with ten, a panel is one leaf and pivoting is partial.
constexpr std::array leaves = {1, 2, 4, 10};

struct LuMeasure {
  double ratio;
  double growth;
  double bound = 0;  ///< of the ratio
};

template <class T>
double one_norm(Rectangle<T> const& a) {
  return static_cast<double>(testing::long_one_norm(
      a.rows, a.cols, [&](std::uint64_t i, std::uint64_t j) { return testing::lengthen<T>(a(i, j)); }));
}

template <class T>
double bound_of_lu(Rectangle<T> const& a, Rectangle<T> const& lu) {
  return testing::ratio_bound(testing::unit_lower(lu), testing::upper(lu), one_norm(a));
}
template <class T>
double bound_of_cholesky(Uplo uplo, Rectangle<T> const& a, Rectangle<T> const& factor) {
  auto const triangle = testing::triangle_of(uplo, Diag::NonUnit, factor);
  auto const other = testing::op_of(Op::ConjTrans, triangle);
  return uplo == Uplo::Lower ? testing::ratio_bound(triangle, other, one_norm(a))
                             : testing::ratio_bound(other, triangle, one_norm(a));
}

template <class T>
double growth(Rectangle<T> const& a, Rectangle<T> const& lu) {
  auto const upper = testing::triangle_of(Uplo::Upper, Diag::NonUnit, lu);
  Rectangle<T> const zero(a.rows, a.cols);
  return testing::largest_difference(upper, zero) / testing::largest_difference(a, zero);
}

template <class T>
LuMeasure lapack_lu(Rectangle<T> const& a) {
  auto lu = a;
  std::vector<int> pivots(a.rows);
  static_cast<void>(blas::getrf(static_cast<int>(a.rows), static_cast<int>(a.cols), lu.elements.data(),
                                static_cast<int>(lu.ld), pivots.data()));
  std::vector<std::uint64_t> exchanges;
  for (int const pivot : pivots) exchanges.push_back(static_cast<std::uint64_t>(pivot - 1));
  return {testing::lu_ratio(a, lu, exchanges), growth(a, lu)};
}

template <class T>
LuMeasure tiled_lu(Rectangle<T> const& a, int leaf) {
  auto lu = a;
  auto const result = testing::tiled_getrf(lu, tile, {.leaf_tiles = static_cast<std::uint64_t>(leaf)});
  return {testing::lu_ratio(a, lu, result.exchanges), growth(a, lu), bound_of_lu(a, lu)};
}

// A row of a table.
void print_row(std::string const& name, std::vector<double> const& values) {
  std::printf("| %s |", name.c_str());
  for (double const value : values) std::printf(" %.2g |", value);
  std::printf("\n");
}

template <class T>
class Accuracy : public ::testing::Test {
 protected:
  static void print_title(char const* what) {
    std::printf("\n%s, precision %s, n %d, tile %d\n", what, detail::precision_letter<T>, static_cast<int>(order),
                static_cast<int>(tile));
  }
};
TYPED_TEST_SUITE(Accuracy, testing::Scalars);

TYPED_TEST(Accuracy, OfTournamentPivotingIsThatOfTheTheory) {
  using T = TypeParam;
  this->print_title("LU: ratio and growth of LAPACK, and with leaves of 1, 2, 4, 10 tiles");
  for (auto const& [name, a] : testing::hard_general_matrices<T>(order)) {
    auto const lapack = lapack_lu(a);
    std::vector<double> row{lapack.ratio, lapack.growth};
    for (int const leaf : leaves) {
      auto const tiled = tiled_lu(a, leaf);
      EXPECT_LE(tiled.ratio, tiled.bound) << name << ", leaf " << leaf;
      row.insert(row.end(), {tiled.ratio, tiled.growth});
    }
    print_row(name, row);
  }
}

TYPED_TEST(Accuracy, OfCholeskyIsThatOfTheTheory) {
  using T = TypeParam;
  this->print_title("Cholesky: ratio of LAPACK, and of tiles (lower, upper)");
  for (auto const& [name, a] : testing::hard_positive_definite_matrices<T>(order)) {
    auto lapack = a;
    ASSERT_EQ(blas::potrf(Uplo::Lower, static_cast<int>(order), lapack.elements.data(), static_cast<int>(order)), 0)
        << name;
    double const reference = testing::cholesky_ratio(Uplo::Lower, a, lapack);
    std::vector<double> row{reference};
    for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
      auto tiled = a;
      testing::ImmediateSubmitter submitter;
      TaskEmitter tasks(submitter);
      potrf(tasks, testing::bind_rectangle(submitter, tiled, tile, detail::part_of(uplo)));
      row.push_back(testing::cholesky_ratio(uplo, a, tiled));
      EXPECT_LE(row.back(), bound_of_cholesky(uplo, a, tiled)) << name;
    }
    print_row(name, row);
  }
}

// Compares solves in double precision with refined ones from a factorization in single precision.
template <class T>
class MixedAccuracy : public ::testing::Test {
 protected:
  // The backward error of a solve exceeds that of its factors by at most twice theirs (theorem 9.4).
  static void expect_solved(std::string const& name, bool refined, double ratio, double backward_error,
                            double bound_of_factors) {
    if (refined) {
      EXPECT_LE(backward_error, testing::refined_bound<T>(order)) << name;
    } else {
      EXPECT_LE(ratio, 3 * static_cast<double>(order) * bound_of_factors) << name;
    }
  }
  Runtime runtime{{.workers = 2}};
  Rectangle<T> exact = testing::random_rectangle<T>(order, 3, 5);
};
using DoubleScalars = ::testing::Types<double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(MixedAccuracy, DoubleScalars);

TYPED_TEST(MixedAccuracy, OfGesvIsThatOfTheTheory) {
  using T = TypeParam;
  std::printf("\ngesv: ratio in double, mixed; refinements, or -1 where it was done again in double\n");
  for (auto const& [name, a] : testing::hard_general_matrices<T>(order)) {
    if (name.starts_with("rank") || name.starts_with("two equal")) continue;
    auto const b = testing::multiply(a, this->exact);
    auto lu = a;
    auto x = b;
    static_cast<void>(gesv(this->runtime, view_of(lu), view_of(x), tile));
    double const reference = testing::solve_ratio(Op::NoTrans, a, x, b);
    auto matrix = a;
    auto right = b;
    Rectangle<T> mixed(order, 3);
    auto const report = gesv_mixed(this->runtime, view_of(matrix), view_of(right), view_of(mixed), tile);
    double const ratio = testing::solve_ratio(Op::NoTrans, a, mixed, b);
    this->expect_solved(name, report.used_float, ratio, testing::backward_error(a, mixed, b), bound_of_lu(a, matrix));
    print_row(name, {reference, ratio, report.used_float ? report.iterations : -1.0});
  }
}

TYPED_TEST(MixedAccuracy, OfPosvIsThatOfTheTheory) {
  using T = TypeParam;
  std::printf("\nposv: ratio in double, mixed; refinements, or -1 where it was done again in double\n");
  for (auto const& [name, a] : testing::hard_positive_definite_matrices<T>(order)) {
    auto const b = testing::multiply(a, this->exact);
    auto factors = a;
    auto x = b;
    posv(this->runtime, Uplo::Lower, view_of(factors), view_of(x), tile);
    double const reference = testing::solve_ratio(Op::NoTrans, a, x, b);
    auto matrix = a;
    auto right = b;
    Rectangle<T> mixed(order, 3);
    auto const report = posv_mixed(this->runtime, Uplo::Lower, view_of(matrix), view_of(right), view_of(mixed), tile);
    double const ratio = testing::solve_ratio(Op::NoTrans, a, mixed, b);
    this->expect_solved(name, report.used_float, ratio, testing::backward_error(a, mixed, b),
                        bound_of_cholesky(Uplo::Lower, a, matrix));
    print_row(name, {reference, ratio, report.used_float ? report.iterations : -1.0});
  }
}

}  // namespace
}  // namespace granary::accuracy_test
