// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of a task on the Runtime that runs it.
#include "support/deadline.hpp"
#include "support/message_of.hpp"

#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace granary::inside_tasks_test {
namespace {

using test::require_end;
using testing::HasSubstr;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Wait {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  Runtime* runtime;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    runtime->wait();
  }
};

std::string message_of_wait(Runtime& runtime) {
  return test::message_of([&] { runtime.wait(); });
}

TEST(InsideTasks, WaitIsRefusedOnCoresAndOnDevices) {
  for (bool const on_device : {false, true}) {
    RuntimeOptions const on_cores{.workers = 2, .host_memory = 1_MiB};
    RuntimeOptions const on_one{.workers = 0, .devices = "host:1", .host_memory = 1_MiB, .models = models_off};
    require_end("wait() inside a task", [&] {
      Vector x("x", 10);
      Runtime runtime(on_device ? on_one : on_cores);
      auto const data = runtime.data(x);
      runtime.submit("waits", Wait{&runtime}, read_write(data));
      EXPECT_EQ(message_of_wait(runtime),
                "wait() cannot be called inside a task of the same Runtime: it would wait for itself");
      ASSERT_EQ(runtime.failures().size(), 1U);
      EXPECT_THAT(runtime.failures()[0].what, HasSubstr("waits"));
    });
  }
}

struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  double value;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = value;
  }
};

struct FillOnAnother {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* other;
  Vector filled;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    auto const data = other->data(filled);
    other->submit("fill", Fill{3.0}, write(data));
    other->wait();
  }
};

TEST(InsideTasks, AnotherRuntimeMayBeWaitedFor) {
  Vector x("x", 10), y("y", 10);
  Runtime outer({.workers = 1, .host_memory = 1_MiB}), inner({.workers = 1, .host_memory = 1_MiB});
  auto const data = outer.data(x);
  outer.submit("waits for another", FillOnAnother{&inner, y}, read_write(data));
  outer.wait();
  EXPECT_EQ(y(9), 3.0);
}

struct SubmitMore {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* runtime;
  Data<Vector> next;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    runtime->submit("fill", Fill{4.0}, write(next));
  }
};

TEST(InsideTasks, TasksMayBeSubmitted) {
  Vector x("x", 10), y("y", 10);
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const data = runtime.data(x), next = runtime.data(y);
  runtime.submit("submits", SubmitMore{&runtime, next}, read_write(data));
  runtime.wait();
  EXPECT_EQ(y(9), 4.0);
}

// The last owner of a Runtime.
struct Keep {
  static constexpr bool launches_kokkos_kernels = false;
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<std::atomic<bool>> let_go;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    while (!let_go->load()) std::this_thread::yield();
  }
};

void end_a_runtime_inside_its_task() {
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // destination of the log
  Vector x("x", 10);
  auto const let_go = std::make_shared<std::atomic<bool>>(false);
  auto runtime = std::make_shared<Runtime>(RuntimeOptions{.workers = 1, .host_memory = 1_MiB});
  auto const data = runtime->data(x);
  runtime->submit("keeps", Keep{runtime, let_go}, read_write(data));
  runtime.reset();
  let_go->store(true);
  std::this_thread::sleep_for(std::chrono::minutes(1));
}

// A tree of tasks: each submits two more, down to leaves that add to one sum and to cells of their own.
struct Branch {
  static constexpr bool launches_kokkos_kernels = false;
  Runtime* runtime;
  Scalar<double> sum;
  Scalar<int> turns;
  int depth;
  template <class Exec, class S>
  void operator()(Exec const&, S count) const {
    count() += 1;
    if (depth == 0) return;
    for (int child = 0; child < 2; ++child) {
      runtime->submit("branch", Branch{runtime, sum, turns, depth - 1}, commute(turns));
      runtime->submit("leaf", Leaf{}, reduce(sum, Sum{}), scratch<double>(4));
    }
  }
  struct Leaf {
    static constexpr bool launches_kokkos_kernels = false;
    template <class Exec, class S, class R>
    void operator()(Exec const&, S total, R room) const {
      room(3) = 0.5;
      total() += 2 * room(3);
    }
  };
};

TEST(InsideTasks, TasksMaySubmitWithEveryAccessMode) {
  for (auto const* const devices : {"none", "host:2"}) {
    Runtime runtime({.workers = 2U, .devices = devices, .max_live_tasks = 20, .models = models_off});
    auto const sum = runtime.scalar<double>("sum");
    auto const turns = runtime.scalar<int>("turns");
    runtime.submit("branch", Branch{&runtime, sum, turns, 7}, commute(turns));
    runtime.wait();
    EXPECT_EQ(turns.get(), 255);
    EXPECT_EQ(sum.get(), 254);
  }
}

// In a Kokkos without threads the reference count of a View is not atomic: handles must not copy the View.
TEST(InsideTasks, HandlesMayBeCopiedOnSeveralThreads) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  Vector x("x", 10);
  auto const data = runtime.data(x);
  auto const scalar = runtime.scalar<double>("scalar", 3);
  static_assert(sizeof(scalar) == sizeof(data) + sizeof(Runtime*));
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200'000; ++i) static_cast<void>(std::pair(data, scalar));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(scalar.get(), 3);
  EXPECT_EQ(x.use_count(), 2);
}

TEST(InsideTasksDeathTest, TheEndOfTheRuntimeEndsTheProgramWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(end_a_runtime_inside_its_task(), "a Runtime was destroyed inside one of its own tasks");
}

struct Refuse {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    throw std::runtime_error("no");
  }
};

struct Holding {
  static constexpr bool launches_kokkos_kernels = false;
  Data<Vector> held;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {}
};

// Handles in the parameters of cancelled tasks are destroyed on the thread that learns of the failure, perhaps a
// worker, while the Runtime ends.
TEST(InsideTasks, HandlesOfCancelledTasksMayGoWhileTheRuntimeEnds) {
  require_end("the end of a Runtime", [] {
    Vector x("x", 10);
    std::vector<Vector> held(20, Vector("held", 10));
    for (int round = 0; round < 20; ++round) {
      Runtime runtime({.workers = 2, .host_memory = 1_MiB});
      auto const data = runtime.data(x);
      runtime.submit("refuses", Refuse{}, read_write(data));
      for (auto const& view : held) runtime.submit("holds", Holding{runtime.data(view, "held")}, read_write(data));
      EXPECT_THROW(runtime.wait(), std::runtime_error);
    }
  });
}

}  // namespace
}  // namespace granary::inside_tasks_test
