// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks of an application and the library's functions on the same View.
#include <granary/granary.hpp>
#include <granary/linalg/linalg.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace granary::shared_matrix_views_test {
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
constexpr int n = 96;

// Writes 4 to the diagonal slowly: a factorization that does not wait reads zeros there.
struct FillSlowly {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class A>
  void operator()(Exec const&, A a) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (std::size_t j = 0; j < a.extent(1); ++j) {
      for (std::size_t i = 0; i < a.extent(0); ++i) a(i, j) = i == j ? 4.0 : 0.0;
    }
  }
};

void expect_factored(Matrix const& a) {
  for (int i = 0; i < n; ++i) ASSERT_EQ(a(i, i), 2.0) << i;
}

TEST(SharedViewsOfMatrices, AFactorizationWaitsForTasksOnTheSameView) {
  Matrix a("a", n, n);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  runtime.submit("fill", FillSlowly{}, write(runtime.data(a)));
  potrf(runtime, Uplo::Lower, a, 32);
  expect_factored(a);
}

TEST(SharedViewsOfMatrices, OneOfASingleTileIsTheSameDatum) {
  Matrix a("a", n, n);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.data(a);
  runtime.submit("fill", FillSlowly{}, write(whole));
  potrf(runtime, Uplo::Lower, a, n);
  expect_factored(a);
}

TEST(SharedViewsOfMatrices, AFactorizationGoesWithHandlesOnTheMatrixAndABlock) {
  for (std::string const devices : {"none", "host:2"}) {
    Matrix a("a", n, n);
    RuntimeOptions options{.workers = 2, .devices = devices, .host_memory = 1_MiB};
    if (devices != "none") options.device_memory = 1_MiB;
    Runtime runtime(options);
    auto const whole = runtime.data(a, "whole");
    auto const block = runtime.data(Kokkos::subview(a, std::pair(16, 48), std::pair(16, 48)), "block");
    runtime.submit("fill", FillSlowly{}, write(whole));
    potrf(runtime, Uplo::Lower, a, 32);
    expect_factored(a);
    runtime.submit("fill", FillSlowly{}, write(whole));
    runtime.submit("fill", FillSlowly{}, write(block));
    potrf(runtime, Uplo::Lower, a, 32);
    expect_factored(a);
  }
}

}  // namespace
}  // namespace granary::shared_matrix_views_test
