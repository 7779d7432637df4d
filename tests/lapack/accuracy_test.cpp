// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Backward errors and growth on hard matrices, beside LAPACK's. The tables of docs/accuracy.md are what this prints.
#include <granary/linalg/kernels/blas.hpp>
#include <granary/linalg/linalg.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "lapack/bound_lu.hpp"
#include "lapack/hard_matrices.hpp"
#include "unit/linalg/api.hpp"

namespace granary {
namespace {

using testing::Rectangle;
using testing::view_of;

constexpr std::uint64_t order = 160;
constexpr std::uint64_t tile = 16;
// Tile rows in a leaf of the tournament; with ten, panels are not cut and pivoting is partial.
constexpr std::array leaves = {1, 2, 4, 10};

// What is required: no worse than ten times LAPACK's, where LAPACK's own is not far below rounding errors.
constexpr double factor = 10;
constexpr double floor_of_ratios = 0.1;
// Refinement ends at a backward error of sqrt(n) eps, as LAPACK's does.
constexpr double floor_of_solves = 1;

struct LuMeasure {
  double ratio;
  double growth;
};

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
  return {testing::lu_ratio(a, lu, result.exchanges), growth(a, lu)};
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
    std::printf("\n%s, precision %s, n %d, tile %d\n", what, precision_letter<T>, static_cast<int>(order),
                static_cast<int>(tile));
  }
};
TYPED_TEST_SUITE(Accuracy, testing::Scalars);

TYPED_TEST(Accuracy, OfTournamentPivotingIsLapacksOfPartialPivoting) {
  using T = TypeParam;
  this->print_title("LU: ratio and growth of LAPACK, and with leaves of 1, 2, 4, 10 tiles");
  for (auto const& [name, a] : testing::hard_general_matrices<T>(order)) {
    auto const lapack = lapack_lu(a);
    std::vector<double> row{lapack.ratio, lapack.growth};
    for (int const leaf : leaves) {
      auto const tiled = tiled_lu(a, leaf);
      EXPECT_LE(tiled.ratio, factor * std::max(lapack.ratio, floor_of_ratios)) << name << ", leaf " << leaf;
      EXPECT_LE(tiled.growth, factor * lapack.growth) << name << ", leaf " << leaf;
      row.insert(row.end(), {tiled.ratio, tiled.growth});
    }
    print_row(name, row);
  }
}

TYPED_TEST(Accuracy, OfCholeskyIsLapacks) {
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
      potrf(tasks, testing::bind_rectangle(submitter, tiled, tile, part_of(uplo)));
      row.push_back(testing::cholesky_ratio(uplo, a, tiled));
      EXPECT_LE(row.back(), factor * std::max(reference, floor_of_ratios)) << name;
    }
    print_row(name, row);
  }
}

// Solves in double precision beside refined ones from a factorization in single precision.
template <class T>
class MixedAccuracy : public ::testing::Test {
 protected:
  Runtime runtime{{.workers = 2}};
  Rectangle<T> exact = testing::random_rectangle<T>(order, 3, 5);
};
using DoubleScalars = ::testing::Types<double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(MixedAccuracy, DoubleScalars);

TYPED_TEST(MixedAccuracy, OfGesvIsThatOfDouble) {
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
    EXPECT_LE(ratio, factor * std::max(reference, floor_of_solves)) << name;
    print_row(name, {reference, ratio, report.used_float ? report.iterations : -1.0});
  }
}

TYPED_TEST(MixedAccuracy, OfPosvIsThatOfDouble) {
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
    EXPECT_LE(ratio, factor * std::max(reference, floor_of_solves)) << name;
    print_row(name, {reference, ratio, report.used_float ? report.iterations : -1.0});
  }
}

}  // namespace
}  // namespace granary
