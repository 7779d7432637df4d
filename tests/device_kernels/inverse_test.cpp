// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/linalg/inverse.hpp"
#include "device_kernels/lane.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/exact.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace granary {
namespace {

using testing::in_triangle;
using testing::Lane;
using testing::OnDevice;
using testing::Tile;

template <class T>
class DeviceInverses : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceInverses, test::Scalars);

// Runs kernel(lane, tile on the device) on a tile of the host, and returns what was reported.
template <class T, class Kernel>
detail::KernelReport run(Tile<T>& tile, Kernel const& kernel) {
  auto view = tile.view();
  OnDevice<T> const there(tile.entries());
  view.data = there.data();
  Lane lane;
  lane.run([&](auto const& on) { kernel(on, view); });
  tile.set_entries(there.values());
  return lane.report();
}

TYPED_TEST(DeviceInverses, OfTrianglesAndTheirSquaresAreExact) {
  using T = TypeParam;
  for (int const n : {1, 7, 32, 33, 100, 150}) {
    for (auto const layout : testing::layouts) {
      for (auto const uplo : testing::uplos) {
        Tile<T> a(n, n, layout);
        auto const order = static_cast<std::uint64_t>(n);
        a.assign(testing::exact_triangles<T>(order, order, 6));
        a.for_each([&](int i, int j, T& value) {
          if (!in_triangle(uplo, i, j)) value = T(std::numeric_limits<detail::RealOf<T>>::quiet_NaN());
        });
        for (auto const diag : testing::diags) {
          auto inverse = a;
          auto const report =
              run(inverse, [&](auto const& on, auto const& tile) { kernels::trtri<T>(on, uplo, diag, tile); });
          EXPECT_EQ(report.info, 0);
          testing::expect_inverse(uplo, diag, a, inverse);
          if (diag == Diag::Unit) continue;
          auto squared = inverse;
          run(squared, [&](auto const& on, auto const& tile) { kernels::lauum<T>(on, uplo, tile); });
          testing::expect_square(uplo, inverse, squared);
        }
      }
    }
  }
}

TYPED_TEST(DeviceInverses, OfASingularTriangleNameTheZero) {
  using T = TypeParam;
  for (int const bad : {0, 40, 99}) {
    Tile<T> a(100, 100, detail::TileLayout::RowMajor);
    a.for_each([&](int i, int j, T& v) { v = i == j && i != bad ? T(2) : T(0); });
    auto const report =
        run(a, [&](auto const& on, auto const& tile) { kernels::trtri<T>(on, Uplo::Lower, Diag::NonUnit, tile); });
    EXPECT_EQ(report.info, bad + 1);
  }
}

}  // namespace
}  // namespace granary
