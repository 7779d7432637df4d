// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NaN and infinity in the Views of solves.
#include "unit/linalg/api.hpp"
#include "unit/linalg/exact.hpp"

namespace granary {
namespace {

using namespace testing;

template <class T>
constexpr detail::RealOf<T> nan = std::numeric_limits<detail::RealOf<T>>::quiet_NaN();
template <class T>
constexpr detail::RealOf<T> infinity = std::numeric_limits<detail::RealOf<T>>::infinity();

template <class T>
class ApiFinite : public ::testing::Test {
 protected:
  static constexpr std::uint64_t n = 70;
  static constexpr std::uint64_t tile = 16;
  Runtime runtime{{.workers = 2}};
  Rectangle<T> definite = ExactCholesky<T>(n).a;
  Rectangle<T> general = reversed(ExactLu<T>(n, n).a);
  Rectangle<T> solution = random_eighths<T>(n, 5, 3);

  // Solves with one element of A or B changed, and returns the message; neither matrix may have changed.
  template <class Layout, class Solve>
  std::string refusal_of(Rectangle<T> a, Rectangle<T> b, Solve&& solve) {
    auto const a_view = make_view<T, Layout>(a, "M"), b_view = make_view<T, Layout>(b, "");
    auto const message = refusal([&] { solve(a_view, b_view); });
    expect_same(values_of(a_view), a);
    expect_same(values_of(b_view), b);
    return message;
  }
  static void expect_same(Rectangle<T> const& a, Rectangle<T> const& b) {
    for (std::size_t i = 0; i < a.elements.size(); ++i) {
      bool const both_nan = a.elements[i] != a.elements[i] && b.elements[i] != b.elements[i];
      ASSERT_TRUE(both_nan || a.elements[i] == b.elements[i]);
    }
  }
  [[nodiscard]] static Rectangle<T> with(Rectangle<T> a, std::uint64_t i, std::uint64_t j, T const& value) {
    a(i, j) = value;
    return a;
  }
};
TYPED_TEST_SUITE(ApiFinite, Scalars);

TYPED_TEST(ApiFinite, PosvNamesTheFirstElementOfTheTriangle) {
  using T = TypeParam;
  auto const b = multiply(this->definite, this->solution);
  for (auto const& [i, j] : {std::pair<std::uint64_t, std::uint64_t>{0, 0}, {69, 69}, {40, 3}, {69, 68}}) {
    for (auto const& [value, word] :
         {std::pair{nan<T>, "NaN"}, {infinity<T>, "infinity"}, {-infinity<T>, "infinity"}}) {
      auto const at = " holds " + std::string(word) + " at (" + std::to_string(i) + ", " + std::to_string(j) + ")";
      auto const transposed_at =
          " holds " + std::string(word) + " at (" + std::to_string(j) + ", " + std::to_string(i) + ")";
      EXPECT_EQ(this->template refusal_of<Kokkos::LayoutLeft>(
                    this->with(this->definite, i, j, T(value)), b,
                    [&](auto const&... m) { posv(this->runtime, Uplo::Lower, m..., this->tile); }),
                "posv: A 'M' (70 x 70)" + at);
      EXPECT_EQ(this->template refusal_of<Kokkos::LayoutRight>(
                    this->with(this->definite, j, i, T(value)), b,
                    [&](auto const&... m) { posv(this->runtime, Uplo::Upper, m..., this->tile); }),
                "posv: A 'M' (70 x 70)" + transposed_at);
    }
  }
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutRight>(
                this->definite, this->with(b, 33, 4, T(nan<T>)),
                [&](auto const&... m) { posv(this->runtime, Uplo::Lower, m..., this->tile); }),
            "posv: B (70 x 5) holds NaN at (33, 4)");
}

TYPED_TEST(ApiFinite, GesvNamesTheFirstElement) {
  using T = TypeParam;
  auto const b = multiply(this->general, this->solution);
  auto const call = [&](auto const&... m) { static_cast<void>(gesv(this->runtime, m..., this->tile)); };
  for (auto const& [i, j] : {std::pair<std::uint64_t, std::uint64_t>{0, 0}, {69, 69}, {40, 3}, {3, 40}}) {
    auto const a = this->with(this->general, i, j, T(nan<T>));
    auto const message = "gesv: A 'M' (70 x 70) holds NaN at (" + std::to_string(i) + ", " + std::to_string(j) + ")";
    EXPECT_EQ(this->template refusal_of<Kokkos::LayoutLeft>(a, b, call), message);
    EXPECT_EQ(this->template refusal_of<Kokkos::LayoutRight>(a, b, call), message);
  }
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutLeft>(this->general, this->with(b, 0, 4, T(-infinity<T>)), call),
            "gesv: B (70 x 5) holds infinity at (0, 4)");
}

// Of several the one in the first tile, in row-major order of tiles, and there the first one in memory; A before B.
TYPED_TEST(ApiFinite, TheFirstOfSeveralIsNamed) {
  using T = TypeParam;
  auto a = this->general, b = multiply(a, this->solution);
  a(65, 2) = a(2, 65) = a(20, 30) = a(30, 20) = a(25, 20) = b(0, 0) = T(nan<T>);
  auto const call = [&](auto const&... m) { static_cast<void>(gesv(this->runtime, m..., this->tile)); };
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutLeft>(a, b, call), "gesv: A 'M' (70 x 70) holds NaN at (2, 65)");
  a(2, 65) = T(1);
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutRight>(a, b, call), "gesv: A 'M' (70 x 70) holds NaN at (20, 30)");
}

TYPED_TEST(ApiFinite, WhatPosvDoesNotReadDoesNotCount) {
  using T = TypeParam;
  auto const b = multiply(this->definite, this->solution);
  for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
    auto a = rectangle_of<T>(70, 70, [&](std::uint64_t i, std::uint64_t j) {
      return in_triangle(uplo, i, j) ? this->definite(i, j) : T(nan<T>);
    });
    if constexpr (detail::is_complex<T>) {
      for (std::uint64_t i = 0; i < 70; ++i) a(i, i) = T(a(i, i).real(), nan<T>);
    }
    auto found = b;
    posv(this->runtime, uplo, view_of(a), view_of(found), this->tile);
    EXPECT_EQ(largest_difference(found, this->solution), 0);
  }
}

TYPED_TEST(ApiFinite, WithoutTheCheckItIsAsInLapack) {
  using T = TypeParam;
  SolveOptions const unchecked{.check_finite = false};
  auto a = this->with(this->definite, 40, 3, T(nan<T>));
  auto b = multiply(this->definite, this->solution);
  try {
    posv(this->runtime, Uplo::Lower, view_of(a), view_of(b), this->tile, {}, unchecked);
    FAIL() << "accepted";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 41U);
  }
  auto whole = this->general;
  b = this->with(multiply(whole, this->solution), 40, 3, T(nan<T>));
  static_cast<void>(gesv(this->runtime, view_of(whole), view_of(b), this->tile, chosen_leaf(), unchecked));
  EXPECT_EQ(largest_difference(b, this->solution), std::numeric_limits<double>::infinity());
}

// A multiple of the identity so small that the solution overflows.
template <class T>
Rectangle<T> tiny_identity(std::uint64_t n) {
  constexpr detail::RealOf<T> tiny = 4 * std::numeric_limits<detail::RealOf<T>>::min();
  return rectangle_of<T>(n, n, [](std::uint64_t i, std::uint64_t j) { return T(i == j ? tiny : 0); });
}

TYPED_TEST(ApiFinite, ASolutionThatOverflowsIsThrown) {
  using T = TypeParam;
  auto const tiny = tiny_identity<T>(70);
  Rectangle<T> right = this->solution;
  right(69, 4) = T(1 / tiny(0, 0));
  auto const said = [](auto const& call) {
    try {
      call();
    } catch (NotFinite const& error) {
      return error.result();
    }
    return std::string("nothing was thrown");
  };
  SolveOptions const unchecked{.check_finite = false};
  for (bool const symmetric : {true, false}) {
    auto const solve = [&](Rectangle<T>& b, SolveOptions const& options) {
      auto a = tiny;
      if (symmetric) {
        posv(this->runtime, Uplo::Lower, view_of(a), view_of(b), this->tile, {}, options);
      } else {
        static_cast<void>(gesv(this->runtime, view_of(a), view_of(b), this->tile, chosen_leaf(), options));
      }
    };
    auto b = right;
    EXPECT_EQ(said([&] { solve(b, {}); }), "the solution");
    EXPECT_FALSE(detail::is_finite(b(69, 4))) << "as without the check";
    b = right;
    solve(b, unchecked);
    EXPECT_FALSE(detail::is_finite(b(69, 4)));
  }
}

// A zero pivot leaves infinities in the solution, too.
TYPED_TEST(ApiFinite, ASingularMatrixIsNamedBeforeWhatComesOfIt) {
  using T = TypeParam;
  Rectangle<T> a(70, 70);
  auto b = this->solution;
  EXPECT_THROW(static_cast<void>(gesv(this->runtime, view_of(a), view_of(b), this->tile)), Singular);
}

template <class T>
class ApiFiniteMixed : public ApiFinite<T> {};
using Doubles = ::testing::Types<double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(ApiFiniteMixed, Doubles);

TYPED_TEST(ApiFiniteMixed, SolvesRefuseToo) {
  using T = TypeParam;
  auto const definite_call = [&](auto const& a, auto const& b) {
    LeftView<T> const x("X", 70, 5);
    static_cast<void>(posv_mixed(this->runtime, Uplo::Lower, a, b, x, this->tile));
  };
  auto const general_call = [&](auto const& a, auto const& b) {
    LeftView<T> const x("X", 70, 5);
    static_cast<void>(gesv_mixed(this->runtime, a, b, x, this->tile));
  };
  auto const b = multiply(this->definite, this->solution);
  auto const a = this->with(this->definite, 68, 1, T(nan<T>));
  auto const bad = this->with(b, 9, 0, T(infinity<T>));
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutLeft>(a, b, definite_call),
            "posv_mixed: A 'M' (70 x 70) holds NaN at (68, 1)");
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutRight>(a, b, general_call),
            "gesv_mixed: A 'M' (70 x 70) holds NaN at (68, 1)");
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutLeft>(this->definite, bad, definite_call),
            "posv_mixed: B (70 x 5) holds infinity at (9, 0)");
  EXPECT_EQ(this->template refusal_of<Kokkos::LayoutRight>(this->definite, bad, general_call),
            "gesv_mixed: B (70 x 5) holds infinity at (9, 0)");
}

TYPED_TEST(ApiFiniteMixed, ASolutionThatOverflowsIsThrown) {
  using T = TypeParam;
  auto const tiny = tiny_identity<T>(70);
  auto b = this->solution, x = b;
  b(69, 4) = T(1 / tiny(0, 0));
  auto a = tiny;
  EXPECT_THROW(
      static_cast<void>(posv_mixed(this->runtime, Uplo::Lower, view_of(a), view_of(b), view_of(x), this->tile)),
      NotFinite);
  a = tiny;
  EXPECT_THROW(static_cast<void>(gesv_mixed(this->runtime, view_of(a), view_of(b), view_of(x), this->tile)), NotFinite);
}

TYPED_TEST(ApiFiniteMixed, WithoutTheCheckDoublePrecisionDecides) {
  using T = TypeParam;
  SolveOptions const unchecked{.check_finite = false};
  auto a = this->with(this->definite, 68, 1, T(nan<T>));
  auto b = multiply(this->definite, this->solution), x = b;
  EXPECT_THROW(posv_mixed(this->runtime, Uplo::Lower, view_of(a), view_of(b), view_of(x), this->tile, unchecked),
               NotPositiveDefinite);
  a = this->general;
  b = this->with(b, 9, 0, T(nan<T>));
  auto const report = gesv_mixed(this->runtime, view_of(a), view_of(b), view_of(x), this->tile, unchecked);
  EXPECT_EQ(report.reason, "an element of B is NaN");
  EXPECT_EQ(largest_difference(x, this->solution), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace granary
