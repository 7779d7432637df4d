// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions on partial copies, and scratch.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/granary.hpp>

#include "support/deadline.hpp"
#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace granary::reduce_test {

using namespace detail;

namespace {

using test::Fail;
using test::OnAnyWorker;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct AddTerm : OnAnyWorker {
  double term;
  template <class Exec, class S>
  void operator()(Exec const&, S s) const {
    for (std::size_t i = 0; i < s.size(); ++i) s.data()[i] += term;
  }
};
struct AddSlowly : OnAnyWorker {
  template <class Exec, class S>
  void operator()(Exec const&, S s) const {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    s() += 1;
  }
};
struct Lower : OnAnyWorker {
  double term;
  template <class Exec, class S>
  void operator()(Exec const&, S s) const {
    s() = std::min(s(), term);
  }
};
struct Set : OnAnyWorker {
  double value;
  template <class Exec, class S>
  void operator()(Exec const&, S s) const {
    s() = value;
  }
};
struct Copy : OnAnyWorker {
  template <class Exec, class A, class B>
  void operator()(Exec const&, A a, B b) const {
    *b.data() = *a.data();  // of any rank
  }
};
// Its own operation: the larger by modulus.
struct Largest {
  template <class T>
  static T identity() {
    return 0;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T a, T b) const {
    return std::abs(a) < std::abs(b) ? b : a;
  }
};

class Reduce : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static RuntimeOptions options() {
    if (GetParam() == "none") return {.workers = 2U, .devices = "none", .models = models_off};
    return {.workers = GetParam() == "host:2" ? 1U : 0U, .devices = GetParam(), .models = models_off};
  }
  Runtime runtime{options()};
};

TEST_P(Reduce, IsTheValueOfAllContributions) {
  auto const sum = runtime.scalar<double>("sum", 5);
  for (int i = 1; i <= 100; ++i) runtime.submit("add", AddTerm{{}, double(i)}, reduce(sum, Sum{}));
  EXPECT_EQ(sum.get(), 5055);
  EXPECT_EQ(sum.get(), 5055);
  for (int i = 1; i <= 10; ++i) runtime.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
  runtime.wait();
  EXPECT_EQ(sum.get(), 5065);
}

TEST_P(Reduce, OtherAccessesComeInTheOrderOfSubmission) {
  auto const sum = runtime.scalar<double>("sum");
  auto const seen = runtime.scalar<double>("seen");
  for (int round = 1; round <= 5; ++round) {
    runtime.submit("set", Set{{}, 100.0 * round}, write(sum));
    for (int i = 0; i < 20; ++i) runtime.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
    runtime.submit("copy", Copy{}, read(sum), write(seen));
    EXPECT_EQ(seen.get(), 100 * round + 20);
  }
}

TEST_P(Reduce, DataThatShareBytesComeInTheOrderOfSubmission) {
  Vector const x("x", 8);
  auto const whole = runtime.data(x, "whole");
  auto const part = runtime.part(whole, std::pair(2, 5));
  for (int round = 1; round <= 5; ++round) {
    for (int i = 0; i < 10; ++i) runtime.submit("add", AddTerm{{}, 1}, reduce(whole, Sum{}));
    runtime.submit("add", AddTerm{{}, 100}, read_write(part));
    for (int i = 0; i < 10; ++i) runtime.submit("add", AddTerm{{}, 1}, reduce(whole, Sum{}));
    for (int i = 0; i < 10; ++i) runtime.submit("add", AddTerm{{}, 10}, reduce(part, Sum{}));
    for (int i = 0; i < 10; ++i) runtime.submit("add", AddTerm{{}, 1}, reduce(whole, Sum{}));
    runtime.wait(part);
    EXPECT_EQ(x(1), 30 * round);
    EXPECT_EQ(x(4), 230 * round);
  }
}

TEST_P(Reduce, KnowsOtherOperationsOneAfterTheOther) {
  auto const value = runtime.scalar<double>("value", std::numeric_limits<double>::infinity());
  for (int i = 0; i < 30; ++i) runtime.submit("lower", Lower{{}, std::abs(i - 17.5)}, reduce(value, Minimum{}));
  for (int i = 0; i < 30; ++i) runtime.submit("add", AddTerm{{}, 2}, reduce(value, Sum{}));
  for (int i = 0; i < 30; ++i) runtime.submit("lower", Lower{{}, 1000.0 - i}, reduce(value, Minimum{}));
  EXPECT_EQ(value.get(), 60.5);
}

TEST_P(Reduce, OneContributionDoesNotCommuteWithWhatFollows) {
  for (int round = 0; round < 50; ++round) {
    auto const value = runtime.scalar<double>("value", 1);
    runtime.submit("add", AddTerm{{}, 8}, reduce(value, Sum{}));
    runtime.submit("lower", Lower{{}, 5}, reduce(value, Minimum{}));
    runtime.submit("add", AddTerm{{}, 3}, commute(value));
    runtime.submit("lower", Lower{{}, 4}, reduce(value, Minimum{}));
    EXPECT_EQ(value.get(), 4);
    runtime.submit("add", AddTerm{{}, 2}, reduce(value, Sum{}));
    runtime.submit("lower", Lower{{}, 5}, commute(value));
    EXPECT_EQ(value.get(), 5);
  }
}

TEST_P(Reduce, OfAnOperationOfTheApplication) {
  auto const value = runtime.scalar<double>("value");
  struct Keep : OnAnyWorker {
    double term;
    void operator()(HostExecutionSpace const&, BodyView<Scalar<double>::View, AccessMode::Write> s) const {
      s() = Largest{}(s(), term);
    }
  };
  for (int i = -20; i < 10; ++i) runtime.submit("keep", Keep{{}, double(i)}, reduce(value, Largest{}));
  EXPECT_EQ(value.get(), -20);
}

TEST_P(Reduce, WorksOnArraysOfAnyLayout) {
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const a("a", 6, 5);
  auto const block = Kokkos::subview(a, std::pair(1, 4), std::pair(0, 3));
  auto const all = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>("b", 3, 7);
  struct AddAll : OnAnyWorker {
    void operator()(HostExecutionSpace const&, BodyView<decltype(block), AccessMode::Write> x,
                    BodyView<std::remove_const_t<decltype(all)>, AccessMode::Write> y) const {
      for (std::size_t i = 0; i < x.extent(0); ++i) {
        for (std::size_t j = 0; j < x.extent(1); ++j) x(i, j) += double(i + 1) + 10 * double(j);
      }
      for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] += 1;
    }
  };
  auto const x = runtime.data(block);
  auto const y = runtime.data(all);
  for (int i = 0; i < 12; ++i) runtime.submit("add", AddAll{}, reduce(x, Sum{}), reduce(y, Sum{}));
  runtime.wait(x, y);
  EXPECT_EQ(a(1, 0), 12);
  EXPECT_EQ(a(3, 2), 12 * 23);
  EXPECT_EQ(a(0, 0) + a(4, 0) + a(1, 3), 0) << "the rest of the matrix is left alone";
  EXPECT_EQ(all(2, 6), 12);
}

TEST_P(Reduce, InOrderGivesTheSameBitsInEachRun) {
  auto const run = [&] {
    auto const sum = runtime.scalar<double>("sum");
    for (int i = 1; i < 500; ++i) runtime.submit("add", AddTerm{{}, 1.0 / i}, reduce(sum, Sum{}, in_order));
    return sum.get();
  };
  double const first = run();
  EXPECT_NEAR(first, 6.79, 0.01);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run(), first);
}

TEST_P(Reduce, AFailedContributionIsAFailureOfTheValue) {
  auto const sum = runtime.scalar<double>("sum");
  for (int i = 0; i < 10; ++i) runtime.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
  runtime.submit("fail", Fail{}, reduce(sum, Sum{}));
  EXPECT_EQ(test::message_of<std::exception>([&] { static_cast<void>(sum.get()); }), "no");
  runtime.wait();
  runtime.submit("set", Set{{}, 3}, write(sum));
  runtime.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
  EXPECT_EQ(sum.get(), 4);
}

TEST_P(Reduce, FromSeveralThreads) {
  auto const sum = runtime.scalar<double>("sum");
  auto const other = runtime.scalar<double>("other");
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        runtime.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
        runtime.submit("add", AddTerm{{}, 1}, reduce(other, Sum{}));
        if (i % 50 == 0) runtime.wait(other);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum.get(), 600);
  EXPECT_EQ(other.get(), 600);
}

TEST_P(Reduce, ThrottlesSubmission) {
  auto some = options();
  some.max_live_tasks = 50;
  Runtime few(some);
  auto const sum = few.scalar<double>("sum");
  for (int i = 0; i < 2000; ++i) few.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
  EXPECT_EQ(sum.get(), 2000);
  EXPECT_LE(few.statistics().planner.most_live_tasks, 70U);
}

TEST_P(Reduce, LeavesNoOpenSumBehind) {
  Kokkos::View<double, Kokkos::HostSpace> const kept("kept");
  {
    Runtime other(options());
    auto const x = other.data(kept);
    for (int i = 0; i < 9; ++i) other.submit("add", AddTerm{{}, 1}, reduce(x, Sum{}));
  }
  EXPECT_EQ(kept(), 9);
}

TEST_P(Reduce, RefusesADatumWithoutValue) {
  auto const nothing = runtime.temporary<double>("nothing", 3);
  auto const message = test::message_of([&] { runtime.submit("add", AddTerm{{}, 1}, reduce(nothing, Sum{})); });
  EXPECT_NE(message.find("which have no value yet: write them first"), std::string::npos) << message;
  runtime.submit("add", AddTerm{{}, 0}, write(nothing));
  runtime.submit("add", AddTerm{{}, 1}, reduce(nothing, Sum{}));
  runtime.wait();
}

// A combination would write the datum, which no task uses: the application may be changing it.
TEST_P(Reduce, NothingIsCombinedAfterARefusedTask) {
  auto const nothing = runtime.temporary<double>("nothing", 1);
  auto const sum = runtime.scalar<double>("sum", 1);
  auto const refused = [&] { runtime.submit("copy", Copy{}, read(nothing), reduce(sum, Sum{})); };
  EXPECT_THROW(refused(), InvalidArgument);
  EXPECT_EQ(sum.get(), 1);
  EXPECT_LE(runtime.statistics().planner.tasks_run, 1U) << "that fills a copy";
  runtime.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
  EXPECT_THROW(refused(), InvalidArgument);
  EXPECT_EQ(sum.get(), 2);
}

TEST_P(Reduce, RefusesASecondAccessOfTheSameTask) {
  auto const sum = runtime.scalar<double>("sum", 1);
  std::string const message =
      "task 'copy' reduces data 'sum' and accesses it a second time: a task sees only its own part of a reduction "
      "(submitted at ";
  EXPECT_THAT(test::message_of([&] { runtime.submit("copy", Copy{}, read(sum), reduce(sum, Sum{})); }),
              testing::StartsWith(message));
  EXPECT_THAT(test::message_of([&] { runtime.submit("copy", Copy{}, reduce(sum, Sum{}), reduce(sum, Maximum{})); }),
              testing::StartsWith(message));
  EXPECT_EQ(sum.get(), 1);
}

TEST_P(Reduce, RefusesAnAccessOfTheSameTaskToSomeOfTheBytes) {
  Vector const x("x", 8);
  auto const whole = runtime.data(x, "whole");
  auto const part = runtime.part(whole, std::pair(2, 5));
  runtime.submit("add", AddTerm{{}, 1}, reduce(whole, Sum{}));
  std::string const message =
      "task 'copy' reduces data 'whole', which shares bytes with data 'whole[2:5]' of the same task (submitted at ";
  EXPECT_THAT(test::message_of([&] { runtime.submit("copy", Copy{}, read(part), reduce(whole, Sum{})); }),
              testing::StartsWith(message));
  EXPECT_THAT(test::message_of([&] { runtime.submit("copy", Copy{}, reduce(whole, Sum{}), reduce(part, Sum{})); }),
              testing::StartsWith(message));
  runtime.wait();
  EXPECT_EQ(x(2), 1);
}

// Contributes when the application has submitted more tasks than may be live, and sleeps.
struct ContributeLate : OnAnyWorker {
  Runtime* runtime;
  Scalar<double> sum;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    runtime->submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
  }
};

TEST_P(Reduce, TasksMayContributeWhileTheApplicationSleeps) {
  test::require_end("a contribution", [&] {
    auto few = options();
    few.max_live_tasks = 2;
    Runtime other(few);
    auto const sum = other.scalar<double>("sum"), late = other.scalar<double>("late"), x = other.scalar<double>("x");
    for (int round = 1; round <= 5; ++round) {
      other.submit("add", AddTerm{{}, 1}, reduce(sum, Sum{}));
      other.submit("contribute", ContributeLate{{}, &other, late}, write(x));
      EXPECT_EQ(sum.get(), round);
      other.wait();
      EXPECT_EQ(late.get(), round);
    }
  });
}

// Fills its room, and finds there what it wrote.
struct UseRoom : OnAnyWorker {
  double value;
  template <class Exec, class S, class R>
  void operator()(Exec const&, S sum, R room) const {
    for (std::size_t i = 0; i < room.extent(0); ++i) room(i, 1) = value;
    for (std::size_t i = 0; i < room.extent(0); ++i) sum() += room(i, 1);
  }
};

TEST_P(Reduce, ScratchIsRoomOfTheTask) {
  auto const sum = runtime.scalar<double>("sum");
  for (int i = 0; i < 50; ++i) runtime.submit("use", UseRoom{{}, 2}, reduce(sum, Sum{}), scratch<double>(10, 2));
  EXPECT_EQ(sum.get(), 1000);
  runtime.submit("use", UseRoom{{}, 3}, read_write(sum), scratch<Kokkos::View<double**, Kokkos::LayoutLeft>>(10, 2));
  runtime.submit("use", UseRoom{{}, 1}, read_write(sum), scratch<Kokkos::View<double* [2]>>(20));
  EXPECT_EQ(sum.get(), 1050);
  EXPECT_EQ(test::message_of([&] {
              runtime.submit("use", UseRoom{{}, 2}, read_write(sum), scratch<double>(-1, 2));
            }).empty(),
            false);
}

TEST(ReduceInLittleMemory, RefusesWhatCouldNotBeCombined) {
  Runtime runtime({.workers = 2U, .devices = "none", .host_memory = 20_KiB, .models = models_off});
  auto const large = runtime.temporary<double>("large", 1500);  // three pages: a copy of it has no room beside it
  runtime.submit("fill", AddTerm{{}, 0}, write(large));
  auto const add = [&](auto const& x) { runtime.submit("add", AddTerm{{}, 1}, reduce(x, Sum{}, in_order)); };
  EXPECT_EQ(test::message_of<MemoryLimitError>([&] { add(large); }).substr(0, 33), "task 'combine' needs at least 245");
  Vector const view("view", 3000);  // in place: only the copy needs memory
  auto const in_place = runtime.data(view);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(test::message_of<MemoryLimitError>([&] { add(in_place); }).substr(0, 15), "task 'identity'");
  auto const small = runtime.scalar<double>("small");
  add(small);
  EXPECT_EQ(small.get(), 1);
  runtime.wait();
}

// The Views of copies are those of the datum, which goes first when its combination is cancelled.
TEST(ReduceOnCores, CopiesMayOutliveTheDatum) {
  Runtime runtime({.scheduler = "eager", .workers = 1U, .devices = "none", .models = models_off});
  for (int round = 0; round < 5; ++round) {
    test::Held const held;
    auto const other = runtime.scalar<double>("other");
    runtime.submit("held", held, write(other));
    auto sum = std::make_unique<Scalar<double>>(runtime.scalar<double>("sum"));
    runtime.submit("fail", Fail{}, reduce(*sum, Sum{}, in_order));
    for (int i = 0; i < 50; ++i) runtime.submit("add", AddSlowly{}, reduce(*sum, Sum{}, in_order));
    auto const copy = runtime.submit("copy", Copy{}, read(*sum), write(other));
    sum.reset();
    held.end();
    while (!copy.done()) std::this_thread::yield();
    EXPECT_EQ(test::message_of<std::exception>([&] { runtime.wait(); }), "no");
  }
}

TEST(Scratch, StandsUnderTheLimit) {
  Runtime runtime({.workers = 1U, .devices = "none", .host_memory = 1_MiB, .models = models_off});
  auto const sum = runtime.scalar<double>("sum");
  for (int i = 0; i < 20; ++i) runtime.submit("use", UseRoom{{}, 1}, read_write(sum), scratch<double>(40'000, 2));
  EXPECT_EQ(sum.get(), 800'000);
  EXPECT_GE(runtime.figures().host_memory_peak, 640'000U);
  EXPECT_LE(runtime.figures().host_memory_peak, 1_MiB);
  EXPECT_EQ(runtime.figures().bytes_written, 0U) << "its contents are never kept";
  EXPECT_EQ(test::message_of<MemoryLimitError>([&] {
              runtime.submit("use", UseRoom{{}, 1}, read_write(sum), scratch<double>(100'000, 2));
            }).substr(0, 10),
            "task 'use'");
}

INSTANTIATE_TEST_SUITE_P(OnHostAndDevices, Reduce, testing::Values("none", "host:1", "host:2"),
                         [](auto const& drawn) { return "D" + std::to_string(drawn.index); });

}  // namespace
}  // namespace granary::reduce_test
