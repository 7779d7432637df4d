// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_kernels/lane.hpp"
#include "support/scalars.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace granary {
namespace {

using testing::Lane;
using testing::OnDevice;

template <class T>
class DeviceElementwise : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceElementwise, test::Scalars);

// The report on a 40 x 30 tile of zeros, stored with gaps, after this change of it.
template <class T, class Change>
detail::KernelReport report_of(MatrixPart part, bool hermitian, detail::TileLayout layout, Change const& change) {
  constexpr int rows = 40, cols = 30, ld = 45;
  std::vector<T> values(ld * 40, T(0));
  change(detail::TileView<T>{values.data(), rows, cols, ld, layout});
  OnDevice<T> const there(values);
  Lane lane;
  lane.run([&](auto const& on) {
    kernels::find_not_finite<T>(on, part, hermitian, detail::TileView<T const>{there.data(), rows, cols, ld, layout});
  });
  return lane.report();
}

TYPED_TEST(DeviceElementwise, TheFirstElementThatIsNotFiniteIsReported) {
  using T = TypeParam;
  using R = detail::RealOf<T>;
  constexpr R infinity = std::numeric_limits<R>::infinity(), nan = std::numeric_limits<R>::quiet_NaN();
  auto const nothing = report_of<T>(MatrixPart::All, false, detail::TileLayout::ColumnMajor, [](auto const&) {});
  EXPECT_EQ(nothing.info, 0);
  auto const several = [&](auto const& a) {
    a(7, 9) = T(-infinity);
    a(39, 29) = T(nan);
    a(8, 5) = T(nan);
  };
  auto const by_columns = report_of<T>(MatrixPart::All, false, detail::TileLayout::ColumnMajor, several);
  EXPECT_EQ(by_columns.info, 1 + 5 * 40 + 8);
  EXPECT_TRUE(std::isnan(by_columns.value));
  auto const by_rows = report_of<T>(MatrixPart::All, false, detail::TileLayout::RowMajor, several);
  EXPECT_EQ(by_rows.info, 1 + 7 * 30 + 9);
  EXPECT_TRUE(std::isinf(by_rows.value));
  EXPECT_EQ(report_of<T>(MatrixPart::Upper, false, detail::TileLayout::ColumnMajor, several).info, 1 + 9 * 40 + 7);
  EXPECT_EQ(report_of<T>(MatrixPart::Lower, false, detail::TileLayout::RowMajor, several).info, 1 + 8 * 30 + 5);
  if constexpr (detail::is_complex<T>) {
    auto const imaginary = [&](auto const& a) { a(3, 3) = T(1, infinity); };
    EXPECT_EQ(report_of<T>(MatrixPart::Lower, true, detail::TileLayout::ColumnMajor, imaginary).info, 0);
    auto const counted = report_of<T>(MatrixPart::Lower, false, detail::TileLayout::ColumnMajor, imaginary);
    EXPECT_EQ(counted.info, 1 + 3 * 40 + 3);
    EXPECT_TRUE(std::isinf(counted.value));
  }
}

}  // namespace
}  // namespace granary
