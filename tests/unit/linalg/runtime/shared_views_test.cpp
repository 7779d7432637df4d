// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks of an application and the library's functions on the same View.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

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

struct Throw {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class A>
  void operator()(Exec const&, A) const {
    throw DataError("a hole");
  }
};

TEST(SharedViewsOfMatrices, AFailureReachesCallsOnTheSameView) {
  Matrix a("a", n, n), b("b", n, 2), c("c", n, n);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.data(a);
  runtime.submit("assemble", Throw{}, read_write(whole));
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(static_cast<void>(logdet(runtime, Uplo::Lower, a, 32)), DataError);
    EXPECT_THROW(static_cast<void>(lange(runtime, Norm::One, a, 40)), DataError);
    EXPECT_THROW(potrs(runtime, Uplo::Lower, a, b, 32), DataError);
    EXPECT_THROW(copy(runtime, a, c, MatrixPart::All, 32), DataError);
    EXPECT_THROW(gemm(runtime, Op::NoTrans, Op::NoTrans, 1.0, a, a, 0.0, c, 32), DataError);
  }
  EXPECT_THROW(runtime.wait(), DataError);
  runtime.wait();
  EXPECT_THROW(static_cast<void>(logdet(runtime, Uplo::Lower, a, 32)), InvalidArgument) << "it still has no value";
}

TEST(SharedViewsOfMatrices, AFailureReachesCallsWithOtherTiles) {
  Matrix zero("zero", n, n), b("b", n, 2);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto factorization = async::potrf(runtime, Uplo::Lower, zero, 48);
  EXPECT_THROW(static_cast<void>(logdet(runtime, Uplo::Lower, zero, 32)), NotPositiveDefinite);
  EXPECT_THROW(potrs(runtime, Uplo::Lower, zero, b, 16), NotPositiveDefinite);
  EXPECT_THROW(factorization.wait(), NotPositiveDefinite);
  EXPECT_THROW(runtime.wait(), NotPositiveDefinite);
  runtime.wait();
}

TEST(SharedViewsOfMatrices, CallsWithOtherTilesComeInTheOrderOfSubmission) {
  Matrix a("a", n, n), b("b", n, 2);
  Kokkos::deep_copy(b, 8.0);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto first = async::set(runtime, 0.0, 4.0, a, MatrixPart::All, 20);
  auto second = async::potrf(runtime, Uplo::Lower, a, 48);
  potrs(runtime, Uplo::Lower, a, b, 32);
  for (int i = 0; i < n; ++i) ASSERT_EQ(b(i, 1), 2.0) << i;
  first.wait();
  second.wait();
}

TEST(SharedViewsOfMatrices, EachThreadIsToldOfItsOwnFailures) {
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  std::vector<std::thread> threads;
  for (std::uint64_t order = 4; order < 8; ++order) {
    threads.emplace_back([&runtime, order] {
      // Kokkos without threads counts references of managed Views without a lock.
      using Unmanaged = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
      for (int k = 0; k < 500; ++k) {
        std::vector<double> memory(order * order);
        for (std::uint64_t i = 0; i + 1 < order; ++i) memory[i * order + i] = 4;
        try {
          potrf(runtime, Uplo::Lower, Unmanaged(memory.data(), order, order));
          ADD_FAILURE() << "accepted";
        } catch (NotPositiveDefinite const& error) {
          EXPECT_EQ(error.order(), order);
        }
        auto const& failures = runtime.failures();
        ASSERT_EQ(failures.size(), 1U);
        auto const shape = std::to_string(order) + " x " + std::to_string(order);
        EXPECT_EQ(failures[0].origin.data, std::vector{"View of " + shape + "(0, 0)"});
      }
    });
  }
  for (auto& thread : threads) thread.join();
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
