// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gels and qr_r with a Runtime: Views, files out of core, and what they refuse.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "lapack/least_squares_ratio.hpp"
#include "unit/linalg/api.hpp"

namespace granary::api_least_squares_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t tile = 16;

template <class T>
class LeastSquaresCalls : public Files {
 protected:
  Runtime runtime{{.workers = 2, .host_memory = 1_MiB, .models = models_off}};
};
TYPED_TEST_SUITE(LeastSquaresCalls, Scalars);

// R^H R - A^H A, in units of n ε ‖A‖₁².
template <class T>
double triangle_ratio(Rectangle<T> const& a, Rectangle<T> const& r) {
  auto const gram = [](Rectangle<T> const& x, std::uint64_t i, std::uint64_t j) {
    Long<T> sum{};
    for (std::uint64_t k = 0; k < x.rows; ++k) sum += detail::conjugate(lengthen<T>(x(k, i))) * lengthen<T>(x(k, j));
    return sum;
  };
  auto const rest =
      long_one_norm(a.cols, a.cols, [&](std::uint64_t i, std::uint64_t j) { return gram(r, i, j) - gram(a, i, j); });
  auto const norm = largest_column_sum(a);
  return test_ratio<T>(rest, norm * norm, a.cols);
}

template <class L>
double column_norm(Rectangle<L> const& a, std::uint64_t j) {
  long double squares = 0;
  for (std::uint64_t i = 0; i < a.rows; ++i) squares += detail::modulus(a(i, j)) * detail::modulus(a(i, j));
  return static_cast<double>(std::sqrt(squares));
}

TYPED_TEST(LeastSquaresCalls, TakeViewsOfAnyLayoutAndShape) {
  using T = TypeParam;
  for (auto const& [m, n, k] :
       {std::tuple{1, 1, 1}, {7, 3, 2}, {40, 40, 1}, {150, 41, 3}, {1009, 33, 1}, {701, 5, 20}}) {
    auto const rows = static_cast<std::uint64_t>(m), cols = static_cast<std::uint64_t>(n),
               sides = static_cast<std::uint64_t>(k);
    auto const a = random_rectangle<T>(rows, cols, 1), b = random_rectangle<T>(rows, sides, 2);
    LeftView<T> const x("x", cols, sides);
    auto const left = make_view<T, Kokkos::LayoutLeft>(a);
    auto const fit = gels(this->runtime, left, make_view<T, Kokkos::LayoutRight>(b), x, tile);
    EXPECT_LT(orthogonality_ratio(a, values_of(x), b), lapack_threshold) << m << " x " << n;
    EXPECT_EQ(values_of(left).elements, a.elements);
    ASSERT_EQ(fit.residual_norms.size(), sides);
    auto const residual = residual_of(a, values_of(x), b);
    for (std::uint64_t j = 0; j < sides; ++j) {
      EXPECT_NEAR(fit.residual_norms[j], column_norm(residual, j), rounding<T>(1000.0 * m)) << j;
    }
    EXPECT_GE(fit.condition, 1 - rounding<T>(100));
    RightView<T> const r("r", cols, cols);
    Kokkos::deep_copy(r, T(7));
    qr_r(this->runtime, left, r, tile);
    auto const triangle = values_of(r);
    EXPECT_LT(triangle_ratio(a, triangle), lapack_threshold) << m << " x " << n;
    for (std::uint64_t j = 0; j < cols; ++j) {
      EXPECT_GE(detail::real_part(triangle(j, j)), 0);
      for (std::uint64_t i = j + 1; i < cols; ++i) ASSERT_EQ(triangle(i, j), T(0));
    }
  }
}

// Too many columns for chains of rows: by tiles, in copies.
TYPED_TEST(LeastSquaresCalls, TakeMatricesThatAreNearlySquare) {
  using T = TypeParam;
  for (auto const& [m, n, k, size] :
       {std::tuple{300, 300, 1, 64}, {401, 257, 3, 50}, {700, 290, 40, 96}, {311, 260, 2, 150}}) {
    auto const rows = static_cast<std::uint64_t>(m), cols = static_cast<std::uint64_t>(n),
               sides = static_cast<std::uint64_t>(k);
    auto const a = random_rectangle<T>(rows, cols, 1), b = random_rectangle<T>(rows, sides, 2);
    RightView<T> const x("x", cols, sides);
    auto const left = make_view<T, Kokkos::LayoutLeft>(a), right = make_view<T, Kokkos::LayoutLeft>(b);
    auto const fit = gels(this->runtime, left, right, x, static_cast<std::uint64_t>(size));
    EXPECT_LT(orthogonality_ratio(a, values_of(x), b), lapack_threshold) << m << " x " << n;
    EXPECT_EQ(values_of(left).elements, a.elements);
    EXPECT_EQ(values_of(right).elements, b.elements);
    auto const residual = residual_of(a, values_of(x), b);
    for (std::uint64_t j = 0; j < sides; ++j) {
      EXPECT_NEAR(fit.residual_norms[j], column_norm(residual, j), rounding<T>(1e5 * m)) << j;
    }
    EXPECT_GE(fit.condition, 1 - rounding<T>(100));
    for (std::uint64_t i = 0; i < rows; ++i) left(i, 200) = T(2) * left(i, 7);
    Kokkos::deep_copy(x, T(5));
    try {
      gels(this->runtime, left, right, x, static_cast<std::uint64_t>(size));
      ADD_FAILURE() << "accepted";
    } catch (RankDeficient const& error) {
      EXPECT_EQ(error.column(), 201U);
      EXPECT_THAT(error.what(), HasSubstr("column 201 is a linear combination of those before it"));
    }
    for (std::uint64_t i = 0; i < cols; ++i) ASSERT_EQ(x(i, 0), T(5));
  }
}

TYPED_TEST(LeastSquaresCalls, OfFilesThatAreNearlySquareGoToScratch) {
  using T = TypeParam;
  auto const a = random_rectangle<T>(330, 270, 3), b = random_rectangle<T>(330, 1, 4);
  this->write("A.h5", a, 32);
  this->write("b.h5", b, 32);
  {
    Bytes const limit = 16 * round_up(32 * 32 * sizeof(T), 4096);
    Runtime limited({.workers = 2, .host_memory = limit, .models = models_off});
    auto const in_a = open_matrix<T>(limited, this->file("A.h5"), "A", {.tile = 32});
    auto const in_b = open_matrix<T>(limited, this->file("b.h5"), "A", {.tile = 32});
    auto x = create_matrix<T>(limited, 270, 1, {.tile = 32, .output = this->file("x.h5"), .output_dataset = "A"});
    gels(limited, in_a, in_b, x);
    x.commit();
    EXPECT_LE(limited.figures().host_memory_peak, limit);
  }
  EXPECT_LT(orthogonality_ratio(a, this->template read<T>("x.h5", 32), b), lapack_threshold);
}

// Every row is read once.
TYPED_TEST(LeastSquaresCalls, ReadFilesOnceUnderTheMemoryLimit) {
  using T = TypeParam;
  std::uint64_t const m = 3001, n = 37;
  auto const a = random_rectangle<T>(m, n, 3), b = random_rectangle<T>(m, 1, 4);
  this->write("A.h5", a, 64);
  this->write("b.h5", b, 64);
  Bytes const size = m * (n + 1) * sizeof(T);
  {
    Bytes const limit = 4 * (n + 1) * (n + 1) * sizeof(T) + 16 * 64 * (n + 1) * sizeof(T);
    Runtime limited({.workers = 2, .host_memory = limit, .models = models_off});
    auto const in_a = open_matrix<T>(limited, this->file("A.h5"), "A", {.tile = 64});
    auto const in_b = open_matrix<T>(limited, this->file("b.h5"), "A", {.tile = 64});
    auto x = create_matrix<T>(limited, n, 1, {.tile = 64, .output = this->file("x.h5"), .output_dataset = "A"});
    gels(limited, in_a, in_b, x);
    x.commit();
    EXPECT_LE(limited.figures().host_memory_peak, limit);
    // Under so small a limit a chain's triangle may go to scratch and come back.
    EXPECT_GE(limited.figures().bytes_read, size);
    EXPECT_LE(limited.figures().bytes_read, size + size / 10);
    EXPECT_LE(limited.figures().bytes_written, size / 10);
  }
  EXPECT_LT(orthogonality_ratio(a, this->template read<T>("x.h5", 64), b), lapack_threshold);
}

TYPED_TEST(LeastSquaresCalls, RefuseColumnsThatDependOnOthersByNumber) {
  using T = TypeParam;
  auto a = random_rectangle<T>(500, 6, 5);
  for (std::uint64_t i = 0; i < a.rows; ++i) a(i, 4) = T(2) * a(i, 0) - T(3) * a(i, 2);
  auto const view = make_view<T, Kokkos::LayoutLeft>(a),
             b = make_view<T, Kokkos::LayoutLeft>(random_rectangle<T>(500, 1, 6));
  LeftView<T> const x("x", 6, 1);
  Kokkos::deep_copy(x, T(5));
  try {
    gels(this->runtime, view, b, x, tile);
    ADD_FAILURE() << "accepted";
  } catch (RankDeficient const& error) {
    EXPECT_EQ(error.column(), 5U);
    EXPECT_THAT(error.others(), ElementsAre(1U, 3U));
    EXPECT_THAT(error.what(),
                HasSubstr("column 5 is a linear combination of the columns 1 and 3: they do not determine"));
  }
  for (std::uint64_t j = 0; j < 6; ++j) EXPECT_EQ(x(j, 0), T(5));
  for (std::uint64_t i = 0; i < a.rows; ++i) view(i, 1) = T(0);
  try {
    gels(this->runtime, view, b, x, tile);
    ADD_FAILURE() << "accepted";
  } catch (RankDeficient const& error) {
    EXPECT_EQ(error.column(), 2U);
    EXPECT_THAT(error.what(), HasSubstr("column 2 is zero"));
  }
}

// The scale of a column does not matter, and a column that nearly depends on others is accepted.
TEST(LeastSquaresTolerance, IsRelativeToEachColumn) {
  auto a = random_rectangle<double>(300, 3, 7);
  for (std::uint64_t i = 0; i < a.rows; ++i) {
    a(i, 1) *= 1e-200;
    a(i, 2) = a(i, 0) + 1e-12 * a(i, 2);
  }
  auto const x0 = rectangle_of<double>(3, 1, [](std::uint64_t i, std::uint64_t) { return i == 1 ? 1e200 : 1.0; });
  Runtime runtime({.workers = 2, .models = models_off});
  LeftView<double> const x("x", 3, 1);
  auto const view = make_view<double, Kokkos::LayoutLeft>(a),
             b = make_view<double, Kokkos::LayoutLeft>(multiply(a, x0));
  auto const fit = gels(runtime, view, b, x, tile);
  EXPECT_GT(fit.condition, 1e11);
  EXPECT_LT(fit.condition, 1e14);
  EXPECT_NEAR(x(1, 0) * 1e-200, 1, 1e-10);
  EXPECT_NEAR(x(0, 0), 1, 1e-2);
  EXPECT_THROW(static_cast<void>(gels(runtime, view, b, x, tile, 1e-11)), RankDeficient);
}

TEST(LeastSquaresBits, DependOnTheTilesAndNotOnTheWorkers) {
  auto const a = random_rectangle<double>(2000, 11, 8), b = random_rectangle<double>(2000, 1, 9);
  std::vector<std::vector<double>> found;
  for (unsigned const workers : {1U, 2U, 5U}) {
    Runtime runtime({.workers = workers, .host_memory = 4_MiB, .models = models_off});
    LeftView<double> const x("x", 11, 1);
    gels(runtime, make_view<double, Kokkos::LayoutLeft>(a), make_view<double, Kokkos::LayoutLeft>(b), x, tile);
    found.push_back(values_of(x).elements);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(LeastSquaresRefusals, NameOperandsAndSizes) {
  Runtime runtime({.workers = 2, .models = models_off});
  LeftView<double> const a("rain", 20, 4), wide("wide", 3, 4), b("b", 20, 1), short_b("b", 19, 1), x("x", 4, 1),
      r("r", 4, 4);
  EXPECT_EQ(refusal([&] { gels(runtime, a, short_b, x); }),
            "gels: the sizes of A 'rain' (20 x 4), B 'b' (19 x 1) and X 'x' (4 x 1) do not match");
  EXPECT_EQ(refusal([&] { gels(runtime, wide, LeftView<double>("b", 3, 1), x); }),
            "gels: A 'wide' (3 x 4) has fewer rows than columns");
  EXPECT_EQ(refusal([&] { qr_r(runtime, wide, r); }), "qr_r: A 'wide' (3 x 4) has fewer rows than columns");
  EXPECT_THAT(refusal([&] { qr_r(runtime, a, wide); }), HasSubstr("do not match"));
  EXPECT_THAT(refusal([&] { gels(runtime, r, r, r); }), HasSubstr("share"));
}

TEST(LeastSquaresRefusals, FindNanAndOverflow) {
  Runtime runtime({.workers = 2, .models = models_off});
  auto const a = make_view<double, Kokkos::LayoutLeft>(random_rectangle<double>(100, 4, 10), "rain");
  auto const b = make_view<double, Kokkos::LayoutLeft>(random_rectangle<double>(100, 1, 11), "b");
  LeftView<double> const x("x", 4, 1);
  Kokkos::deep_copy(x, 5.0);
  a(37, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal([&] { gels(runtime, a, b, x, tile); }), "gels: A 'rain' (100 x 4) holds NaN at (37, 2)");
  EXPECT_EQ(x(3, 0), 5);
  EXPECT_THROW(static_cast<void>(gels(runtime, a, b, x, tile, {}, {.check_finite = false})), NotFinite);
  a(37, 2) = 1;
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 100; ++i) a(i, j) *= 1e-300;
    for (int i = 0; i < 100 && j == 0; ++i) b(i, 0) *= 1e300;
  }
  EXPECT_THROW(static_cast<void>(gels(runtime, a, b, x, tile)), NotFinite);
}

}  // namespace
}  // namespace granary::api_least_squares_test
