// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for some data, for one task, for a value, and what the application may do afterwards.
#include <granary/detail/core/base/error.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace granary::waiting_test {
namespace {

using test::Fail;
using test::Held;
using test::Increase;
using test::OnAnyWorker;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Copy : OnAnyWorker {
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) y(i) = x(i);
  }
};
struct Add : OnAnyWorker {
  template <class Exec, class X, class S>
  void operator()(Exec const&, X x, S s) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) s() += x(i);
  }
};

class Waiting : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static RuntimeOptions options() {
    if (GetParam() == "none") return {.workers = 2U, .devices = "none", .models = models_off};
    return {.workers = 1U, .devices = GetParam(), .models = models_off};
  }
  // Calls body(view, data) in one thread for each of x, y and z, with an unmanaged View of its elements.
  template <class Body>
  void in_threads_of_their_own(Body const& body) {
    using Unmanaged = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    std::vector<std::thread> threads;
    for (auto* const view : {&x, &y, &z}) {
      threads.emplace_back([&, view] {
        Unmanaged const own(view->data(), view->extent(0));
        body(own, runtime.data(own));
      });
    }
    for (auto& thread : threads) thread.join();
  }
  Vector x{"x", 100}, y{"y", 100}, z{"z", 100};
  Runtime runtime{options()};
  Data<Vector> dx = runtime.data(x), dy = runtime.data(y), dz = runtime.data(z);
};

// On one kind of worker: nothing is placed behind a task that runs for ever while another worker is free.
TEST(WaitingOnCores, ForSomeDataLeavesOtherTasksRunning) {
  Runtime runtime({.workers = 2U, .devices = "none", .models = models_off});
  Vector const x("x", 100), y("y", 100), z("z", 100);
  auto const dx = runtime.data(x), dy = runtime.data(y), dz = runtime.data(z);
  Held const held;
  auto const long_task = runtime.submit("held", held, read_write(dz));
  for (double value = 1; value < 9; ++value) {
    Kokkos::deep_copy(x, value);  // the application may use what it waited for
    runtime.submit("copy", Copy{}, read(dx), write(dy));
    runtime.submit("increase", Increase{}, read_write(dy));
    runtime.wait(dy, dx);
    EXPECT_EQ(y(99), value + 1);
    EXPECT_FALSE(long_task.done());
  }
  held.end();
  long_task.wait();
  EXPECT_TRUE(long_task.done());
}

TEST_P(Waiting, LetsTheApplicationChangeItsViewsAfterwards) {
  for (double value = 1; value < 5; ++value) {
    Kokkos::deep_copy(x, value);
    for (int i = 0; i < 4; ++i) runtime.submit("copy", Copy{}, read(dx), write(i % 2 == 0 ? dy : dz));
    runtime.wait();
    EXPECT_EQ(y(50), value);
    EXPECT_EQ(z(50), value);
  }
}

TEST_P(Waiting, ThrowsTheFailuresOfTheseDataAlone) {
  auto const failing = runtime.submit("fail", Fail{}, write(dy));
  auto const cancelled = runtime.submit("copy", Copy{}, read(dy), write(dz));
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.wait(dx);
  EXPECT_EQ(x(0), 1);
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(dx, dy); }), "no");
  ASSERT_EQ(runtime.failures().size(), 1U);
  EXPECT_EQ(runtime.failures()[0].task, failing.id());
  EXPECT_EQ(test::message_of<std::exception>([&] { failing.wait(); }), "no");
  EXPECT_EQ(test::message_of<std::exception>([&] { cancelled.wait(); }), "no");
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.submit("copy", Copy{}, read(dy), write(dx)); }).substr(0, 4),
            "task");
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(); }), "no") << "z was not written because of it";
  runtime.wait();
  runtime.submit("copy", Copy{}, read(dx), write(dy));
  runtime.wait(dy);
  EXPECT_EQ(y(0), 1);
}

TEST_P(Waiting, ReportsAFailureOfOneDatumOnce) {
  runtime.submit("fail", Fail{}, write(dy));
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(dy); }), "no");
  runtime.wait(dy);
  runtime.wait();
}

TEST_P(Waiting, ListsAFailureOfSeveralDataOnce) {
  runtime.submit("fail", Fail{}, write(dx), write(dy));
  runtime.submit("copy", Copy{}, read(dy), write(dz));
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(dx, dy, dz); }), "no");
  EXPECT_EQ(runtime.failures().size(), 1U);
  runtime.wait();
}

TEST_P(Waiting, ANewHandleDoesNotHaveTheValueFromBeforeAFailure) {
  Vector const v("v", 100);
  runtime.submit("fail", Fail{}, write(dy));
  auto const cancelled = runtime.submit("copy", Copy{}, read(dy), write(runtime.data(v)));
  EXPECT_EQ(test::message_of<std::exception>([&] { cancelled.wait(); }), "no");
  auto const reader = runtime.submit("copy", Copy{}, read(runtime.data(v)), write(dx));
  EXPECT_EQ(test::message_of<std::exception>([&] { reader.wait(); }), "no");
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(); }), "no");
  runtime.submit("copy", Copy{}, read(runtime.data(v)), write(dx));
  runtime.wait();
}

TEST_P(Waiting, MayLeaveFailuresToOthers) {
  runtime.submit("fail", Fail{}, write(dy));
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.session().wait_for(std::array{dx.id()}, std::array{dy.id()});
  EXPECT_EQ(x(0), 1);
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(dy); }), "no");
  runtime.wait();
}

TEST_P(Waiting, ThrowsTheErrorOfACancelledRun) {
  Held const held;
  runtime.submit("held", held, read_write(dx));
  auto const behind = runtime.submit("copy", Copy{}, read(dx), write(dy));
  std::vector<TaskHandle> others;
  for (int i = 0; i < 100; ++i) others.push_back(runtime.submit("increase", Increase{}, read_write(dy)));
  runtime.cancel(std::make_exception_ptr(std::runtime_error("enough")));
  held.end();
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(dy); }), "enough");
  EXPECT_EQ(test::message_of<std::exception>([&] { others.back().wait(); }), "enough");
  EXPECT_TRUE(behind.done());
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(); }), "enough");
  others.back().wait();  // reported
}

TEST_P(Waiting, AStopTokenCancelsTheRun) {
  std::stop_source source;
  runtime.cancel_on(source.get_token());
  Held const held;
  runtime.submit("held", held, read_write(dx));
  runtime.submit("copy", Copy{}, read(dx), write(dy));
  std::thread([&] { source.request_stop(); }).join();
  held.end();
  EXPECT_EQ(test::message_of<Stopped>([&] { runtime.wait(); }), "a stop of the run was requested");
  runtime.submit("increase", Increase{}, read_write(dz));
  runtime.wait();
  EXPECT_EQ(z(0), 1);
  std::stop_source other;
  runtime.cancel_on(other.get_token());
  runtime.cancel_on({});
  other.request_stop();
  runtime.submit("increase", Increase{}, read_write(dz));
  runtime.wait();
  EXPECT_EQ(z(0), 2);
  runtime.cancel_on(source.get_token());  // whose stop was requested before
  runtime.submit("increase", Increase{}, read_write(dz));
  EXPECT_EQ(test::message_of<Stopped>([&] { runtime.wait(dz); }), "");
  EXPECT_EQ(z(0), 3);
  EXPECT_EQ(test::message_of<Stopped>([&] { runtime.wait(); }), "a stop of the run was requested");
}

TEST_P(Waiting, ATokenMayStopTheRunWhileItEnds) {
  std::stop_source source;
  Held const held;
  std::thread stops;
  {
    Runtime other(options());
    other.cancel_on(source.get_token());
    auto const data = other.data(x);
    other.submit("held", held, read_write(data));
    for (int i = 0; i < 50; ++i) other.submit("increase", Increase{}, read_write(data));
    stops = std::thread([&] {
      source.request_stop();
      held.end();
    });
  }
  stops.join();
  EXPECT_EQ(x(0), 0);
}

TEST_P(Waiting, AScalarIsTheValueOfTasks) {
  auto const sum = runtime.scalar<double>("sum", 0.5);
  auto const count = runtime.scalar<int>("count");
  EXPECT_EQ(sum.get(), 0.5);
  EXPECT_EQ(count.get(), 0);
  Kokkos::deep_copy(x, 2);
  runtime.submit("add", Add{}, read(dx), read_write(sum));
  EXPECT_EQ(sum.get(), 200.5);
  runtime.submit("add", Add{}, read(dx), read_write(sum));
  EXPECT_EQ(sum.get(), 400.5);
  runtime.submit("fail", Fail{}, write(sum));
  EXPECT_EQ(test::message_of<std::exception>([&] { static_cast<void>(sum.get()); }), "no");
  runtime.wait();
}

TEST_P(Waiting, SeveralThreadsWaitForDataOfTheirOwn) {
  std::atomic<int> right = 0;
  in_threads_of_their_own([&](auto const& own, auto const& data) {
    for (int i = 1; i <= 200; ++i) {
      runtime.submit("increase", Increase{}, read_write(data)).wait();
      runtime.submit("increase", Increase{}, read_write(data));
      runtime.wait(data);
      right += own(99) == 2 * i ? 1 : 0;
    }
  });
  EXPECT_EQ(right, 600);
}

TEST_P(Waiting, SeveralThreadsAreToldOfTheirOwnFailures) {
  std::atomic<int> right = 0;
  in_threads_of_their_own([&](auto const&, auto const& data) {
    for (int i = 0; i < 200; ++i) {
      runtime.submit("fail", Fail{}, write(data));
      EXPECT_THROW(runtime.wait(data), std::exception);
      auto const& failures = runtime.failures();
      right += failures.size() == 1 && failures[0].poisoned_data == std::vector{data.id()} ? 1 : 0;
    }
  });
  EXPECT_EQ(right, 600);
  EXPECT_TRUE(runtime.failures().empty()) << "this thread was told of none";
  runtime.wait();
}

TEST_P(Waiting, IsRefusedInsideTasks) {
  struct Waits : OnAnyWorker {
    Runtime* runtime;
    Data<Vector> data;
    void operator()(detail::HostExecutionSpace const&, detail::BodyView<Vector, detail::AccessMode::Write>) const {
      runtime->wait(data);
    }
  };
  runtime.submit("waits", Waits{{}, &runtime, dy}, write(dx));
  EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(dx); }),
            "wait() cannot be called inside a task of the same Runtime: it would wait for itself");
}

INSTANTIATE_TEST_SUITE_P(OnHostAndDevices, Waiting, testing::Values("none", "host:1", "host:2"),
                         [](auto const& drawn) { return "D" + std::to_string(drawn.index); });

}  // namespace
}  // namespace granary::waiting_test
