// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work of the application among the tasks: `submit_outside` and `submit_after`.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/runtime/api/dual_view.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace granary::outside_test {

using namespace detail;

namespace {

using test::Increase;
using test::message_of;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

class Outside : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static RuntimeOptions options() {
    return {
        .workers = GetParam() == "none" ? 2U : 1U, .devices = GetParam(), .models = models_off, .record_trace = true};
  }
  Vector x{"x", 100}, y{"y", 100};
  Runtime runtime{options()};
  Data<Vector> dx = runtime.data(x), dy = runtime.data(y);
};

// As a receive of MPI: started in the first call, asked until it has ended.
TEST_P(Outside, AMessageIsOneOfTheTasks) {
  for (int round = 1; round <= 20; ++round) {
    auto const arrived = std::make_shared<std::atomic<bool>>(false);
    std::thread sender;
    auto const receive = runtime.submit_outside(
        "receive",
        [&, arrived, started = std::make_shared<bool>(false)] {
          if (!std::exchange(*started, true)) {
            sender = std::thread([&, arrived] {
              Kokkos::deep_copy(x, round);
              *arrived = true;
            });
          }
          return arrived->load();
        },
        write(dx));
    runtime.submit("increase", Increase{}, read_write(dx));
    runtime.submit("increase", Increase{}, read_write(dy));
    runtime.wait(dx);
    EXPECT_TRUE(receive.done());
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(x(i), round + 1);
    sender.join();
  }
  runtime.wait();
  EXPECT_EQ(y(0), 20);
  EXPECT_EQ(runtime.trace().tasks.size(), 40U) << "no worker ran the others";
}

TEST_P(Outside, KernelsOfTheApplicationNeedNoFence) {
  Kokkos::DefaultHostExecutionSpace const instance;
  for (int step = 1; step <= 50; ++step) {
    runtime.wait(dx);
    auto const mine = x;
    Kokkos::parallel_for("mine", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(instance, 0, 100),
                         [=](std::size_t i) { mine(i) *= 2; });
    runtime.submit_after("mine", instance, read_write(dx));
    runtime.submit("increase", Increase{}, read_write(dx));
  }
  runtime.wait(dx);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(x(i), 0x1p50 - 1);
}

TEST_P(Outside, WorkOnTheWholeComesBeforeTasksOnParts) {
  auto const parts = runtime.partition(dx, 30);
  std::atomic<bool> filled = false;
  for (auto const& part : parts) runtime.submit("increase", Increase{}, read_write(part));
  runtime.wait(dx);
  runtime.submit_outside(
      "fill", [&] { return filled.load(); }, write(dx));
  for (auto const& part : parts) runtime.submit("increase", Increase{}, read_write(part));
  Kokkos::deep_copy(x, 5);
  filled = true;
  runtime.wait(dx);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(x(i), 6);
}

struct AddOne : test::OnAnyWorker {
  template <class Exec, class S>
  void operator()(Exec const&, S s) const {
    s() += 1;
  }
};

TEST_P(Outside, WhatIsReducedIsCombinedBefore) {
  auto const sum = runtime.scalar<double>("sum");
  for (int i = 0; i < 10; ++i) runtime.submit("add", AddOne{}, reduce(sum, Sum{}));
  std::atomic<bool> sent = false;
  runtime.submit_outside(
      "send", [&] { return sent.load(); }, read(sum));
  for (int i = 0; i < 10; ++i) runtime.submit("add", AddOne{}, reduce(sum, Sum{}));
  sent = true;
  EXPECT_EQ(sum.get(), 20);
}

TEST_P(Outside, FailuresAreThoseOfATask) {
  runtime.submit_outside(
      "receive", []() -> bool { throw std::runtime_error("no partner"); }, write(dx));
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.submit("increase", Increase{}, read_write(dy));
  EXPECT_EQ(message_of<std::runtime_error>([&] { runtime.wait(dx); }), "no partner");
  runtime.wait();
  EXPECT_EQ(y(0), 1);
}

TEST_P(Outside, AFunctionMayOwnWhatCannotBeCopied) {
  std::vector<std::unique_ptr<int>> polls;  // claims that it can be copied
  polls.push_back(std::make_unique<int>(3));
  runtime.submit_outside(
      "receive", [polls = std::move(polls)] { return --*polls.front() == 0; }, write(dx));
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.wait();
  EXPECT_EQ(x(0), 1);
}

TEST_P(Outside, ADatumMayBeNamedTwice) {
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.wait(dx);
  runtime.submit_outside(
      "exchange",
      [this] {
        x(0) += 10;
        return true;
      },
      read(dx), write(dx), read(dx));
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.wait();
  EXPECT_EQ(x(0), 12);
}

TEST_P(Outside, SubmissionSleepsWhileTooManyAreLive) {
  auto some = options();
  some.max_live_tasks = 50;
  Runtime few(some);
  auto const data = few.data(y);
  for (int i = 0; i < 300; ++i) {
    few.submit_outside(
        "receive", [] { return true; }, write(data));
  }
  few.wait();
  EXPECT_LE(few.statistics().planner.most_live_tasks, 51U);
}

TEST_P(Outside, WhatTheApplicationCannotReachIsRefused) {
  auto const p = runtime.temporary<double>("p", 10);
  auto const fill = [] { return true; };
  auto const message = message_of([&] { runtime.submit_outside("receive", fill, write(p)); });
  EXPECT_THAT(message,
              testing::StartsWith("task 'receive' is outside granary and uses data 'p', which have no place in "
                                  "the application's memory: use a View (submitted at "));
  EXPECT_THAT(message, testing::HasSubstr("outside_test.cpp:"));
  EXPECT_THAT(message_of([&] { runtime.submit_outside("receive", nullptr, write(dx)); }),
              testing::StartsWith("task 'receive' is outside granary and has no function that tells its end"));
}

INSTANTIATE_TEST_SUITE_P(OnHostAndDevices, Outside, testing::Values("none", "host:1", "host:2"),
                         [](auto const& drawn) { return "D" + std::to_string(drawn.index); });

TEST(OutsideOnDevices, WorkOnDeviceViewsIsOrderedByTheirHome) {
  Runtime runtime({.workers = 1U, .devices = "host:2", .models = models_off});
  auto const u = runtime.device_view<double*>(0, "u", 100);
  auto const v = runtime.device_view<double*>(1, "v", 100);
  auto const du = runtime.data(u), dv = runtime.data(v);
  for (int step = 0; step < 20; ++step) {
    for (std::size_t i = 0; i < 100; ++i) u.view(i) = v.view(i) = step;  // emulated: the host can do that
    runtime.submit_after("mine", HostExecutionSpace(), write(du), write(dv));
    runtime.submit("increase", Increase{}, read_write(du));
    runtime.submit("increase", Increase{}, read_write(dv));
    runtime.wait(du, dv);
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(u.view(i) + v.view(i), 2 * (step + 1));
  }
}

TEST(OutsideOnDevices, DualViewsAreRefused) {
  Runtime runtime({.workers = 1U, .devices = "host:1", .models = models_off});
  auto const device = runtime.device_view<double*>(0, "u", 100);
  Kokkos::DualView<double*, Kokkos::HostSpace> dual;
  dual.h_view = decltype(dual.h_view)("u", 100);
  dual.d_view = decltype(dual.d_view)(device.view);
  auto const d = dual_data(runtime, dual);
  EXPECT_THAT(
      message_of([&] { runtime.submit_after("mine", HostExecutionSpace(), write(d)); }),
      testing::StartsWith("task 'mine' is outside granary and uses data 'u', which have two sides (a DualView): "
                          "fence the work, and call modify_host() or modify_device()"));
}

}  // namespace
}  // namespace granary::outside_test
