// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cholesky and LU factorizations of a lane, whole and in parts, compared with LAPACK's on exact numbers: on the
// vendor's device, or on the host if Kokkos has none.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/device/lane_of.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "device_kernels/lane.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"

namespace granary {
namespace {

using testing::Lane;
using testing::largest_difference;
using testing::OnDevice;
using testing::padding_is_untouched;
using testing::random_rectangle;
using testing::Rectangle;

// A whole matrix of the tests fits in the first workspace, of their larger ones only parts in the second.
std::vector<Bytes> workspaces() {
  if (has_device_space) return {1_MiB};  // a vendor's library may need more for a part
  return {1_MiB, 6_KiB};
}

template <class T>
class DeviceFactorizations : public ::testing::Test {
 protected:
  static kernels::Block<T> block_of(T* memory, Rectangle<T> const& a) {
    return {memory, static_cast<int>(a.rows), static_cast<int>(a.cols), static_cast<int>(a.ld)};
  }
  static int potrf(Uplo uplo, Rectangle<T>& a, Bytes workspace) {
    OnDevice<T> const there(a.elements);
    Lane lane(workspace);
    lane.run([&](auto const& on) { kernels::blas_of(on).template potrf<T>(uplo, block_of(there.data(), a)); });
    a.elements = there.values();
    return static_cast<int>(lane.report().info);
  }
  static std::pair<int, std::vector<int>> getrf(Rectangle<T>& a, Bytes workspace) {
    OnDevice<T> const there(a.elements);
    OnDevice<int> const pivots(std::vector<int>(std::min(a.rows, a.cols))), info({-1});
    Lane lane(workspace);
    lane.run([&](auto const& on) {
      kernels::blas_of(on).template getrf<T>(block_of(there.data(), a), pivots.data(), info.data(), on.workspace);
    });
    a.elements = there.values();
    return {info.values().front(), pivots.values()};
  }
  static std::pair<int, std::vector<int>> lapack_getrf(Rectangle<T>& a) {
    std::vector<int> pivots(std::min(a.rows, a.cols));
    int const info = blas::getrf(static_cast<int>(a.rows), static_cast<int>(a.cols), a.elements.data(),
                                 static_cast<int>(a.ld), pivots.data());
    return {info, pivots};
  }
};
TYPED_TEST_SUITE(DeviceFactorizations, test::Scalars);

TYPED_TEST(DeviceFactorizations, PotrfEqualsLapack) {
  using T = TypeParam;
  for (Bytes const workspace : workspaces()) {
    for (std::uint64_t const n : {1, 5, 32, 33, 64, 97, 200}) {
      auto const spd = testing::ExactCholesky<T>(n).a;
      for (auto const uplo : {Uplo::Lower, Uplo::Upper}) {
        auto a = random_rectangle<T>(n, n, n + 1, 3);
        for (std::uint64_t j = 0; j < n; ++j) {
          for (std::uint64_t i = j; i < n; ++i) (uplo == Uplo::Lower ? a(i, j) : a(j, i)) = spd(i, j);
        }
        auto expected = a;
        EXPECT_EQ(this->potrf(uplo, a, workspace), 0);
        ASSERT_EQ(blas::potrf(uplo, static_cast<int>(n), expected.elements.data(), static_cast<int>(a.ld)), 0);
        EXPECT_EQ(largest_difference(a, expected), 0) << n;  // the other triangle stays
        EXPECT_TRUE(padding_is_untouched(a));
      }
    }
  }
}

TYPED_TEST(DeviceFactorizations, PotrfNamesTheLeadingMinor) {
  using T = TypeParam;
  for (Bytes const workspace : workspaces()) {
    for (std::uint64_t const bad : {0, 31, 32, 40, 199}) {
      auto a = testing::random_positive_definite<T>(200);
      a(bad, bad) = T(-1);
      EXPECT_EQ(this->potrf(Uplo::Lower, a, workspace), static_cast<int>(bad) + 1);
      auto nan = testing::random_positive_definite<T>(200);
      nan(bad, bad) = T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
      EXPECT_EQ(this->potrf(Uplo::Lower, nan, workspace), static_cast<int>(bad) + 1);
    }
  }
}

TYPED_TEST(DeviceFactorizations, GetrfEqualsLapack) {
  using T = TypeParam;
  for (Bytes const workspace : workspaces()) {
    for (auto const& [rows, cols] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {1, 1}, {7, 5}, {5, 7}, {32, 32}, {33, 290}, {290, 33}, {200, 200}, {260, 230}, {230, 260}}) {
      auto a = testing::reversed(testing::ExactLu<T>(rows, cols).a);
      auto expected = a;
      auto const [info, pivots] = this->getrf(a, workspace);
      EXPECT_EQ(info, 0);
      auto const [expected_info, expected_pivots] = this->lapack_getrf(expected);
      EXPECT_EQ(pivots, expected_pivots);
      EXPECT_EQ(largest_difference(a, expected), 0) << rows << "x" << cols << " in " << workspace;
    }
  }
}

TYPED_TEST(DeviceFactorizations, GetrfReportsTheFirstZeroPivotAsLapackDoes) {
  using T = TypeParam;
  for (Bytes const workspace : workspaces()) {
    for (std::uint64_t const bad : {0, 20, 32, 199}) {
      auto a = testing::rectangle_of<T>(210, 200,
                                        [&](auto i, auto j) { return i == j && i != bad && i != 199 ? T(2) : T(0); });
      auto expected = a;
      auto const found = this->getrf(a, workspace);
      EXPECT_EQ(found, this->lapack_getrf(expected));
      EXPECT_EQ(found.first, static_cast<int>(bad) + 1);
      EXPECT_EQ(largest_difference(a, expected), 0);
    }
  }
}

TYPED_TEST(DeviceFactorizations, AWorkspaceForNoPartIsRefusedWithNumbers) {
  using T = TypeParam;
  if (has_device_space) GTEST_SKIP() << "what a vendor's library needs is not known";
  auto a = testing::random_positive_definite<T>(64);
  try {
    this->potrf(Uplo::Lower, a, 1_KiB);
    ADD_FAILURE() << "no exception";
  } catch (DeviceError const& error) {
    EXPECT_EQ(error.what(), "a kernel needs " + std::to_string(32 * 8 * sizeof(T)) +
                                " bytes of its lane's workspace, but only 512 are left");
  }
  EXPECT_THROW(this->getrf(a, 512), DeviceError);
}

}  // namespace
}  // namespace granary
