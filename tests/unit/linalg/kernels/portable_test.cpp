// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The portable factorizations compared with LAPACK's, on the host.
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/portable/getrf.hpp>
#include <granary/detail/linalg/kernels/portable/potrf.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"

namespace granary::portable_test {

using namespace detail;

namespace {

using testing::largest_difference;
using testing::padding_is_untouched;
using testing::random_positive_definite;
using testing::random_rectangle;
using testing::Rectangle;

using HostInt = Kokkos::View<int, Kokkos::HostSpace>;
using HostInts = Kokkos::View<int*, Kokkos::HostSpace>;
template <class T>
using HostMatrix = Kokkos::View<T**, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class T>
HostMatrix<T> host_matrix(Rectangle<T>& a) {
  return HostMatrix<T>(a.elements.data(), Kokkos::LayoutStride(a.rows, 1, a.cols, a.ld));
}

// The values, with the mark of random_rectangle between the rows and ld.
template <class T>
Rectangle<T> padded(Rectangle<T> const& values) {
  auto a = random_rectangle<T>(values.rows, values.cols, 1, 2);
  for (std::uint64_t j = 0; j < a.cols; ++j) {
    for (std::uint64_t i = 0; i < a.rows; ++i) a(i, j) = values(i, j);
  }
  return a;
}

template <class T>
class Portable : public ::testing::Test {
 protected:
  void TearDown() override { instance.fence(); }

  int potrf(Rectangle<T>& a) {
    HostInt info("info");
    info() = -1;
    kernels::portable::potrf(instance, host_matrix(a), info);
    instance.fence();
    return info();
  }
  int getrf_nopiv(Rectangle<T>& a) {
    HostInt info("info");
    info() = -1;
    kernels::portable::getrf_nopiv(instance, host_matrix(a), info);
    instance.fence();
    return info();
  }
  std::pair<int, std::vector<int>> getrf(Rectangle<T>& a) {
    HostInt info("info");
    HostInts pivots("pivots", std::min(a.rows, a.cols));
    kernels::portable::getrf(instance, host_matrix(a), info, pivots);
    instance.fence();
    return {info(), std::vector<int>(pivots.data(), pivots.data() + pivots.extent(0))};
  }
  static std::pair<int, std::vector<int>> lapack_getrf(Rectangle<T>& a) {
    std::vector<int> pivots(std::min(a.rows, a.cols));
    int const info = blas::getrf(static_cast<int>(a.rows), static_cast<int>(a.cols), a.elements.data(),
                                 static_cast<int>(a.ld), pivots.data());
    return {info, pivots};
  }

  HostKernelLock lock;
  HostExecutionSpace instance = make_host_instance();
};
TYPED_TEST_SUITE(Portable, test::Scalars);

TYPED_TEST(Portable, PotrfEqualsLapack) {
  using T = TypeParam;
  for (std::uint64_t const n : {0, 1, 5, 32, 33, 64, 97, 200}) {
    auto a = random_rectangle<T>(n, n, n + 1, 3);
    auto const spd = testing::ExactCholesky<T>(n).a;
    for (std::uint64_t j = 0; j < n; ++j) {
      for (std::uint64_t i = j; i < n; ++i) a(i, j) = spd(i, j);
    }
    auto expected = a;
    EXPECT_EQ(this->potrf(a), 0);
    if (n > 0) {
      ASSERT_EQ(blas::potrf(Uplo::Lower, static_cast<int>(n), expected.elements.data(), static_cast<int>(a.ld)), 0);
    }
    EXPECT_EQ(largest_difference(a, expected), 0);  // the upper triangle stays
    EXPECT_TRUE(padding_is_untouched(a));
  }
}

TYPED_TEST(Portable, PotrfNamesTheLeadingMinor) {
  using T = TypeParam;
  for (std::uint64_t const bad : {0, 31, 32, 40, 69}) {
    auto a = random_positive_definite<T>(70);
    a(bad, bad) = T(-1);
    EXPECT_EQ(this->potrf(a), static_cast<int>(bad) + 1);
    auto nan = random_positive_definite<T>(70);
    nan(bad, bad) = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
    EXPECT_EQ(this->potrf(nan), static_cast<int>(bad) + 1);
  }
}

TYPED_TEST(Portable, GetrfEqualsLapack) {
  using T = TypeParam;
  for (auto const& [m, n] :
       {std::pair{0, 0}, {1, 1}, {7, 5}, {5, 7}, {32, 32}, {33, 90}, {90, 33}, {100, 100}, {160, 130}}) {
    auto const rows = static_cast<std::uint64_t>(m), cols = static_cast<std::uint64_t>(n);
    auto a = padded(testing::reversed(testing::ExactLu<T>(rows, cols).a));
    auto expected = a;
    auto const [info, pivots] = this->getrf(a);
    EXPECT_EQ(info, 0);
    if (m == 0) continue;
    auto const [expected_info, expected_pivots] = this->lapack_getrf(expected);
    EXPECT_EQ(pivots, expected_pivots);
    EXPECT_EQ(largest_difference(a, expected), 0) << m << "x" << n;
    EXPECT_TRUE(padding_is_untouched(a));
  }
}

TYPED_TEST(Portable, GetrfTakesRowMajorViews) {
  using T = TypeParam;
  auto expected = testing::reversed(testing::ExactLu<T>(75, 60).a);
  Rows<T> a("a", 75, 60);
  for (std::uint64_t i = 0; i < 75; ++i) {
    for (std::uint64_t j = 0; j < 60; ++j) a(i, j) = expected(i, j);
  }
  HostInt info("info");
  HostInts pivots("pivots", 60);
  kernels::portable::getrf(this->instance, a, info, pivots);
  this->instance.fence();
  ASSERT_EQ(this->lapack_getrf(expected).first, 0);
  auto const computed = testing::rectangle_of<T>(75, 60, [&](auto i, auto j) { return a(i, j); });
  EXPECT_EQ(largest_difference(computed, expected), 0);
}

// If the pivots are the largest entries of their columns, LAPACK exchanges nothing.
TYPED_TEST(Portable, GetrfWithoutPivotingEqualsLapackWhereItExchangesNothing) {
  using T = TypeParam;
  for (auto const& [m, n] : {std::pair{1, 1}, {7, 5}, {5, 7}, {33, 90}, {90, 33}, {100, 100}}) {
    auto a = padded(testing::ExactLu<T>(static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n)).a);
    auto expected = a;
    EXPECT_EQ(this->getrf_nopiv(a), 0);
    ASSERT_EQ(this->lapack_getrf(expected).first, 0);
    EXPECT_EQ(largest_difference(a, expected), 0) << m << "x" << n;
    EXPECT_TRUE(padding_is_untouched(a));
  }
}

TYPED_TEST(Portable, GetrfReportsTheFirstZeroPivotAsLapackDoes) {
  using T = TypeParam;
  for (std::uint64_t const bad : {0, 20, 32, 49}) {
    auto a =
        testing::rectangle_of<T>(60, 50, [&](auto i, auto j) { return i == j && i != bad && i != 49 ? T(2) : T(0); });
    auto expected = a, without = a;
    auto const found = this->getrf(a);
    EXPECT_EQ(found, this->lapack_getrf(expected));
    EXPECT_EQ(found.first, static_cast<int>(bad) + 1);
    EXPECT_EQ(this->getrf_nopiv(without), static_cast<int>(bad) + 1);
    EXPECT_EQ(largest_difference(a, expected), 0);
  }
}

TYPED_TEST(Portable, WhatDoesNotFitIsRefused) {
  using T = TypeParam;
  Rectangle<T> wide(4, 5);
  HostInt info("info");
  HostInts pivots("pivots", 3);
  EXPECT_THROW(kernels::portable::potrf(this->instance, host_matrix(wide), info), InvalidArgument);
  EXPECT_THROW(kernels::portable::getrf(this->instance, host_matrix(wide), info, pivots), InvalidArgument);
}

}  // namespace
}  // namespace granary::portable_test
