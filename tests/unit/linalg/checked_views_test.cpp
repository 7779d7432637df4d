// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RuntimeOptions::check in programs whose Views linear algebra changes.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <gtest/gtest.h>

namespace granary::linalg_checked_views_test {
namespace {

struct Double {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class A>
  void operator()(Exec const&, A a) const {
    for (std::size_t i = 0; i < a.extent(0); ++i) a(i, i) *= 2;
  }
};

class CheckedViews : public ::testing::TestWithParam<bool> {};

TEST_P(CheckedViews, MayBeFactoredBetweenTasks) {
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const a("a", 100, 100);
  for (int i = 0; i < 100; ++i) a(i, i) = 2;
  Runtime runtime({.workers = 2U, .devices = "none", .models = models_off, .check = true, .check_reads = GetParam()});
  auto const da = runtime.data(a);
  runtime.submit("double", Double{}, read_write(da));
  potrf(runtime, Uplo::Lower, a);
  runtime.submit("double", Double{}, read_write(da));
  runtime.wait();
  EXPECT_EQ(a(7, 7), 4);
  runtime.submit("double", Double{}, read_write(da));
  runtime.wait(da);
  EXPECT_EQ(a(7, 7), 8);
}

INSTANTIATE_TEST_SUITE_P(Values, CheckedViews, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Reads, CheckedViews, ::testing::Values(true));

}  // namespace
}  // namespace granary::linalg_checked_views_test
