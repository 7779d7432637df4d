// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies that a scheduler may have stopped.
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/granary.hpp>

#include "support/aborting_scheduler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace granary::runtime_test {

using namespace detail;

namespace {

using Numbers = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

std::atomic<int> told{0};

// Adds one, in about 50 µs; the sum of all parts is wrong meanwhile, and stays so if it is told to stop.
struct AddSlowly {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool restartable = true;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    auto const stop = stop_token();
    auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    x(0) += 1000;
    while (std::chrono::steady_clock::now() < until) {
      if (!stop.requested()) continue;
      ++told;
      return;
    }
    x(0) -= 999;
  }
};

struct Zero {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) = 0;
  }
};

struct NotRestartable {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) += stop_token().requested() ? 1000 : 1;
  }
};

TEST(Restartable, AStoppedBodyRunsAgainOnTheSameValue) {
  register_scheduler("test-aborting", [](PolicyOptions&) -> std::unique_ptr<Scheduler> {
    return std::make_unique<test::AbortingScheduler>(make_scheduler("eager"), 1, 0.5);
  });
  constexpr std::int64_t tasks = 200;
  Runtime runtime({.scheduler = "test-aborting", .workers = 2, .host_memory = 64_MiB});
  Numbers const view("view", 1);
  {
    auto const in_place = runtime.data(view);
    auto const temporary = runtime.temporary<Numbers>("temporary", 1);
    runtime.submit("once", NotRestartable{}, read_write(in_place));
    runtime.submit("zero", Zero{}, write(temporary));
    for (std::int64_t t = 0; t < tasks; ++t) {
      runtime.submit("in place", AddSlowly{}, read_write(in_place));
      runtime.submit("temporary", AddSlowly{}, read_write(temporary));
    }
    runtime.wait();
  }
  EXPECT_EQ(view(0), tasks + 1);
  EXPECT_GT(runtime.statistics().planner.tasks_aborted, 0U);
  EXPECT_LE(told.load(), static_cast<int>(runtime.statistics().planner.tasks_aborted));
}

TEST(Restartable, OutsideOfTasksNobodyIsToldToStop) {
  EXPECT_FALSE(stop_token().requested());
  Runtime runtime({.workers = 1});
  Numbers const view("view", 1);
  runtime.submit("once", NotRestartable{}, read_write(runtime.data(view)));
  runtime.submit("slowly", AddSlowly{}, read_write(runtime.data(view)));
  runtime.wait();
  EXPECT_EQ(view(0), 2) << "no scheduler stops tasks by default";
}

}  // namespace
}  // namespace granary::runtime_test
