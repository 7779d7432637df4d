// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Temporaries that are cut into parts.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace granary::divided_test {

using namespace detail;

namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr auto message_of = [](auto const& call) { return test::message_of<std::exception>(call); };

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
template <class View>
using TemporaryOf = detail::TemporaryView<View, 0>;

// Calls `function(element, number)`, numbers counted with the last index fastest.
template <class X, class Function>
void for_all(X const& x, Function&& function) {
  std::size_t n = 0;
  if constexpr (X::rank == 0) {
    function(x(), n);
  } else if constexpr (X::rank == 1) {
    for (std::size_t i = 0; i < x.extent(0); ++i) function(x(i), n++);
  } else if constexpr (X::rank == 2) {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) function(x(i, j), n++);
    }
  } else {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) {
        for (std::size_t k = 0; k < x.extent(2); ++k) function(x(i, j, k), n++);
      }
    }
  }
}

struct Host {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
};
// x = first, first + 1, ...
struct Count : Host {
  double first = 0;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for_all(x, [&](auto& element, std::size_t n) {
      element = static_cast<std::decay_t<decltype(element)>>(static_cast<double>(n) + first);
    });
  }
};
struct Add : Host {
  double what = 1;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for_all(x, [&](auto& element, std::size_t) { element += static_cast<std::decay_t<decltype(element)>>(what); });
  }
};
// What a task found.
using Found = std::shared_ptr<std::vector<double>>;
struct Look : Host {
  Found found;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    found->clear();
    for_all(x, [&](double element, std::size_t) { found->push_back(element); });
  }
};
struct Throw : Host {
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {
    throw std::runtime_error("it broke");
  }
};
struct Nothing : Host {
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {}
};
struct WaitFor : Host {
  std::shared_future<void> go;
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {
    go.wait();
  }
};

Found look(Runtime& runtime, auto const& data) {
  auto found = std::make_shared<std::vector<double>>();
  runtime.submit("look", Look{{}, found}, read(data));
  return found;
}
template <class... Values>
std::vector<double> values(Values... values) {
  return {static_cast<double>(values)...};
}

RuntimeOptions options_with(std::string const& devices) {
  RuntimeOptions options{.workers = 2, .devices = devices, .host_memory = 1_MiB};
  if (devices != "none") options.device_memory = 64_KiB;
  options.models = models_off;
  return options;
}

template <class View, class... Extents>
void alternate(std::string const& devices, std::array<std::size_t, View::rank> const& tiles, Extents... extents) {
  Runtime runtime(options_with(devices));
  auto const whole = runtime.temporary<View>("w", extents...);
  auto const parts = std::apply([&](auto... tile) { return runtime.partition(whole, tile...); }, tiles);
  runtime.submit("count", Count{}, write(whole));
  double added = 0;
  for (int round = 0; round < 3; ++round) {
    for (auto const& part : parts) runtime.submit("add", Add{}, read_write(part));
    runtime.submit("add", Add{{}, 10}, read_write(whole));
    for (auto const& part : parts) runtime.submit("add", Add{{}, 100}, commute(part));
    added += 111;
    auto const found = look(runtime, whole);
    runtime.wait();
    for (std::size_t n = 0; n < found->size(); ++n) ASSERT_EQ((*found)[n], static_cast<double>(n) + added) << n;
  }
}

TEST(Divided, WholeAndPartsHoldTheSameValues) {
  using Right = Kokkos::LayoutRight;
  using Left = Kokkos::LayoutLeft;
  for (std::string const devices : {"none", "host:2"}) {
    alternate<Kokkos::View<double>>(devices, {});
    alternate<Kokkos::View<double*>>(devices, {3}, 10);
    alternate<Kokkos::View<double**, Right>>(devices, {3, 4}, 10, 7);
    alternate<Kokkos::View<double**, Left>>(devices, {3, 4}, 10, 7);
    alternate<Kokkos::View<float***, Right>>(devices, {2, 3, 5}, 4, 5, 6);
    alternate<Kokkos::View<double***, Left>>(devices, {1, 5, 4}, 4, 5, 6);
    alternate<Kokkos::View<double***, Left>>(devices, {4, 5, 6}, 4, 5, 6);
    alternate<Kokkos::View<double* [5], Right>>(devices, {2, 2}, 4);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Divided, PartsAreNamedAndShapedLikeThoseOfAView) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<double>("w", 10, 7);
  auto const parts = runtime.partition(whole, 4, Kokkos::ALL);
  EXPECT_EQ(parts.extent(0), 3U);
  EXPECT_EQ(parts.extent(1), 1U);
  EXPECT_EQ(runtime.session().engine().name_of(parts(2, 0).id()), "w(2, 0)");
  runtime.submit("count", Count{}, write(parts(2, 0)));
  auto const found = look(runtime, parts(2, 0));
  runtime.wait();
  EXPECT_EQ(found->size(), 14U);
}

TEST(Divided, TheSameTilesGiveTheSameParts) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<double>("w", 10);
  auto const parts = runtime.partition(whole, 4), again = runtime.partition(whole, 4),
             other = runtime.partition(whole, 5);
  EXPECT_EQ(parts(1).id(), again(1).id());
  EXPECT_NE(parts(1).id(), other(1).id());
  EXPECT_EQ(runtime.partition(whole, 20)(0).id(), runtime.partition(whole, Kokkos::ALL)(0).id());
}

// Nothing is copied where the newest value is.
TEST(Divided, CopiesAreMadeWhereTheOrderAsksForThem) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const tasks = [&] { return runtime.statistics().planner.tasks_run; };
  auto const whole = runtime.temporary<double>("w", 10);
  auto const halves = runtime.partition(whole, 5), thirds = runtime.partition(whole, 4);
  for (auto const& half : halves) runtime.submit("count", Count{}, write(half));
  for (auto const& half : halves) runtime.submit("add", Add{}, read_write(half));
  runtime.wait();
  EXPECT_EQ(tasks(), 4U);
  look(runtime, whole);
  look(runtime, whole);
  for (auto const& half : halves) look(runtime, half);
  runtime.wait();
  EXPECT_EQ(tasks(), 8U + 2) << "two gathers";
  auto const found = look(runtime, thirds(1));
  runtime.submit("nothing", Nothing{}, read(whole), read(halves(0)), read(thirds(0)), read(thirds(2)));
  runtime.wait();
  EXPECT_EQ(tasks(), 12U + 3) << "three scatters";
  EXPECT_EQ(*found, values(5, 1, 2, 3));
  runtime.submit("count", Count{}, write(whole));
  runtime.wait();
  EXPECT_EQ(tasks(), 16U) << "nobody needs the parts";
  runtime.submit("add", Add{}, read_write(thirds(1)));
  auto const of_half = look(runtime, halves(1));
  runtime.wait();
  EXPECT_EQ(tasks(), 16U + 3 + 1 + 3 + 2 + 1);
  EXPECT_EQ(*of_half, values(6, 7, 8, 8, 9));
}

TEST(Divided, UnderAMemoryLimitPartsGoToScratch) {
  for (std::string const devices : {"none", "host:1"}) {
    auto options = options_with(devices);
    options.host_memory = 24 * 4096;
    Runtime runtime(options);
    std::vector<Temporary<Kokkos::View<double**>>> wholes;
    for (int w = 0; w < 4; ++w) wholes.push_back(runtime.temporary<Kokkos::View<double**>>("w", 64, 64));
    for (auto const& whole : wholes) runtime.submit("count", Count{}, write(whole));
    for (int round = 0; round < 3; ++round) {
      for (auto const& whole : wholes) {
        for (auto const& part : runtime.partition(whole, 16, 32)) runtime.submit("add", Add{}, read_write(part));
        runtime.submit("add", Add{}, read_write(whole));
      }
    }
    for (auto const& whole : wholes) {
      auto const found = look(runtime, whole);
      runtime.wait();
      for (std::size_t n = 0; n < found->size(); ++n) ASSERT_EQ((*found)[n], static_cast<double>(n) + 6);
    }
    EXPECT_GT(runtime.figures().bytes_written, 0U);
  }
}

TEST(Divided, PartsLiveWithoutTheHandleOfTheWholeAndTheOtherWayRound) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  std::optional<Data<PartView<TemporaryOf<Vector>>>> part;
  Found found;
  {
    auto const whole = runtime.temporary<Vector>("w", 10);
    runtime.submit("count", Count{}, write(whole));
    auto const parts = runtime.partition(whole, 5);
    runtime.submit("add", Add{}, read_write(parts(0)));
    part = parts(1);
  }
  runtime.submit("add", Add{}, read_write(*part));
  found = look(runtime, *part);
  runtime.wait();
  EXPECT_EQ(*found, values(6, 7, 8, 9, 10));
  part.reset();
  auto const whole = runtime.temporary<Vector>("w", 4);
  for (auto const& half : runtime.partition(whole, 2)) runtime.submit("count", Count{}, write(half));
  found = look(runtime, whole);
  runtime.wait();
  EXPECT_EQ(*found, values(0, 1, 0, 1));
}

// Ids of released data are given again: what takes them was not cut.
TEST(Divided, AnEndedFamilyLeavesNothingBehind) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  for (int round = 0; round < 20; ++round) {
    {
      auto const whole = runtime.temporary<Vector>("w", 10);
      auto const parts = runtime.partition(whole, 3);
      runtime.submit("count", Count{}, write(whole));
      runtime.submit("add", Add{}, read_write(parts(1)));
    }
    runtime.wait();
    auto const before = runtime.statistics().planner.tasks_run;
    std::vector<Temporary<Vector>> plain;
    for (int t = 0; t < 8; ++t) plain.push_back(runtime.temporary<Vector>("plain", 5));
    for (auto const& one : plain) runtime.submit("count", Count{}, write(one));
    for (auto const& one : plain) runtime.submit("count", Add{}, reduce(one, Sum{}));
    runtime.wait();
    EXPECT_LT(plain.back().id().value(), 20U);
    EXPECT_EQ(runtime.statistics().planner.tasks_run, before + 4 * plain.size());
  }
}

TEST(Divided, HandlesMayOutliveTheRuntime) {
  std::optional<Temporary<Vector>> whole;
  std::optional<Data<PartView<TemporaryOf<Vector>>>> part;
  for (bool const keep_whole : {false, true}) {
    Runtime runtime({.workers = 1, .host_memory = 1_MiB});
    whole = runtime.temporary<Vector>("w", 10);
    part = runtime.partition(*whole, 5)(1);
    runtime.submit("count", Count{}, write(*part));
    if (!keep_whole) whole.reset();
  }
}

TEST(Divided, APartThatWasNeverWrittenIsNamed) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<Vector>("w", 10);
  auto const halves = runtime.partition(whole, 5), thirds = runtime.partition(whole, 4);
  EXPECT_THAT(message_of([&] { look(runtime, whole); }), HasSubstr("task 'look' reads data 'w', which has no origin"));
  EXPECT_THAT(message_of([&] { look(runtime, halves(0)); }), HasSubstr("task 'look' reads data 'w(0)', which has no"));
  runtime.submit("count", Count{}, write(halves(0)));
  EXPECT_THAT(message_of([&] { look(runtime, halves(1)); }), HasSubstr("task 'look' reads data 'w(1)', which has no"));
  std::string const line = "divided_test.cpp:" + std::to_string(__LINE__ + 1) + ")";
  auto const refused = message_of([&] { runtime.submit("look", Nothing{}, read(whole)); });
  EXPECT_THAT(refused, StartsWith("task 'look' uses data 'w', which need a copy of data 'w(1)', which have no value, "
                                  "because no task has written them or a failure took it: write these first (submitted "
                                  "at "));
  EXPECT_THAT(refused, EndsWith(line));
  EXPECT_THAT(message_of([&] { runtime.submit("fill", Nothing{}, write(thirds(0))); }),
              HasSubstr("task 'fill' uses data 'w(0)', which need a copy of data 'w(1)'"));
  auto const found = look(runtime, halves(0));
  runtime.submit("count", Count{{}, 7}, write(halves(1)));
  auto const all = look(runtime, whole);
  runtime.wait();
  EXPECT_EQ(*found, values(0, 1, 2, 3, 4));
  EXPECT_EQ(*all, values(0, 1, 2, 3, 4, 7, 8, 9, 10, 11));
}

TEST(Divided, ATaskThatWritesUsesOneHolderOnly) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<Vector>("whole", 10);
  auto const halves = runtime.partition(whole, 5), thirds = runtime.partition(whole, 4);
  runtime.submit("count", Count{}, write(whole));
  EXPECT_THAT(
      message_of([&] { runtime.submit("both", Nothing{}, write(whole), read(halves(0))); }),
      AllOf(HasSubstr("task 'both' writes data 'whole', which shares bytes with data 'whole(0)' of the same task"),
            HasSubstr("divided_test.cpp")));
  EXPECT_THAT(
      message_of([&] { runtime.submit("both", Nothing{}, read(thirds(2)), commute(halves(0))); }),
      HasSubstr("task 'both' writes data 'whole(0)', which shares bytes with data 'whole(2)' of the same task"));
  runtime.submit("some", Nothing{}, read_write(halves(0)), write(halves(1)), read(halves(0)));
  runtime.submit("twice", Nothing{}, write(whole), read(whole));
  runtime.wait();
}

TEST(Divided, ReductionsAreRefusedAndThoseBeforeTheCutCount) {
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<Vector>("w", 4);
  runtime.submit("count", Count{}, write(whole));
  for (int t = 0; t < 3; ++t) runtime.submit("add", Add{}, reduce(whole, Sum{}));
  auto const parts = runtime.partition(whole, 2);
  auto const found = look(runtime, parts(1));
  runtime.wait();
  EXPECT_EQ(*found, values(5, 6));
  auto const refusal = "belong to a temporary that was cut into parts: reduce a View, or a temporary that is not cut";
  auto const x = runtime.scalar("x", 0.0);
  EXPECT_THAT(
      message_of([&] { runtime.submit("add", Add{}, reduce(whole, Sum{})); }),
      AllOf(HasSubstr("task 'add' reduces data 'w', which "), HasSubstr(refusal), HasSubstr("divided_test.cpp")));
  EXPECT_THAT(message_of([&] { runtime.submit("add", Nothing{}, reduce(parts(1), Sum{}, in_order), read(x)); }),
              AllOf(HasSubstr("task 'add' reduces data 'w(1)', which "), HasSubstr(refusal)));
  runtime.submit("count", Nothing{}, read(parts(1)), reduce(x, Sum{}));
  runtime.wait();
}

TEST(Divided, WhatCannotBeCut) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<double>("w", 10, 7);
  EXPECT_EQ(message_of([&] { runtime.partition(whole, 0, 3); }),
            "the parts of 'w' cannot have 0 elements in dimension 0");
  auto const parts = runtime.partition(whole, 5, 7);
  EXPECT_EQ(message_of([&] { runtime.partition(parts(0, 0), 1, 1); }),
            "a part of a temporary cannot be cut again: cut the temporary, whose divisions may be used together");
  for (auto const& refused : {message_of([&] { runtime.part(whole, std::pair(0, 3), Kokkos::ALL); }),
                              message_of([&] { runtime.part(parts(0, 0), std::pair(0, 3), Kokkos::ALL); })}) {
    EXPECT_THAT(refused, HasSubstr("cut it with partition(temporary, tiles...)"));
  }
  EXPECT_THAT(message_of([&] {
                runtime.submit_outside(
                    "outside", [] { return true; }, write(parts(0, 0)));
              }),
              HasSubstr("uses data 'w(0, 0)', which have no place in the application's memory"));
}

struct Rough {
  Rough() = default;
  Rough(Rough const& other) : value(other.value) {}
  Rough& operator=(Rough const&) = default;
  double value = 0;
};

TEST(Divided, ConstViewsAndElementsThatAreNotTriviallyCopyableAreCutInPlace) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  Vector const x("x", 6);
  Kokkos::View<double const*, Kokkos::HostSpace> const constant = x;
  EXPECT_EQ(runtime.partition(runtime.data(constant), 4).size(), 2U);
  Kokkos::View<Rough*, Kokkos::HostSpace> const rough("rough", 6);
  EXPECT_EQ(runtime.partition(runtime.data(rough), 4).size(), 2U);
  Kokkos::View<double, Kokkos::HostSpace> const one("one");
  EXPECT_EQ(runtime.partition(runtime.data(one)).size(), 1U);
}

TEST(Divided, WaitsAndHintsConcernAllHolders) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<Vector>("w", 10);
  auto const parts = runtime.partition(whole, 5);
  runtime.submit("count", Count{}, write(whole));
  for (int round = 0; round < 10; ++round) {
    auto const task = runtime.submit("add", Add{}, read_write(parts(1)));
    runtime.wait(whole);
    EXPECT_TRUE(task.done());
    auto const other = runtime.submit("add", Add{}, read_write(whole));
    runtime.wait(parts(0));
    EXPECT_TRUE(other.done());
    for (auto const& part : parts) {
      runtime.prefetch(part, detail::disk_node());
      runtime.prefetch(part, Runtime::host_node());
      runtime.will_not_use(part);
    }
    runtime.prefetch(whole, detail::disk_node());
    runtime.will_not_use(whole);
  }
  auto const found = look(runtime, whole);
  runtime.wait(parts(1));
  EXPECT_EQ((*found)[9], 9 + 20);
  EXPECT_EQ((*found)[0], 0 + 10);
  runtime.submit("throw", Throw{}, read_write(parts(1)));
  EXPECT_EQ(message_of([&] { runtime.wait(whole); }), "it broke");
  EXPECT_NO_THROW(runtime.wait());
}

TEST(Divided, AWaitForAPartConcernsNoOtherElements) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<Vector>("w", 12);
  auto const halves = runtime.partition(whole, 6), quarters = runtime.partition(whole, 3);
  runtime.submit("count", Count{}, write(whole));
  for (auto const& half : halves) look(runtime, half);
  for (auto const& quarter : quarters) look(runtime, quarter);
  runtime.wait();
  std::promise<void> go;
  auto const blocked = runtime.submit("wait for", WaitFor{{}, go.get_future().share()}, read(halves(1)));
  runtime.wait(halves(0));
  runtime.wait(quarters(1));
  EXPECT_FALSE(blocked.done());
  go.set_value();
  runtime.wait(quarters(2));
  EXPECT_TRUE(blocked.done());
  runtime.submit("throw", Throw{}, read_write(halves(1)));
  EXPECT_NO_THROW(runtime.wait(halves(0)));
  EXPECT_EQ(message_of([&] { runtime.wait(); }), "it broke");
}

struct Unassignable {
  int const id = 0;
  double value = 0;
};

TEST(Divided, ElementsThatCannotBeAssignedAreCut) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  Kokkos::View<Unassignable*, Kokkos::HostSpace> const x("x", 6);
  EXPECT_EQ(runtime.partition(runtime.data(x), 4).size(), 2U);
  auto const whole = runtime.temporary<Kokkos::View<Unassignable*>>("w", 6);
  auto const parts = runtime.partition(whole, 4);
  runtime.submit("nothing", Nothing{}, write(whole));
  for (auto const& part : parts) runtime.submit("nothing", Nothing{}, read_write(part));
  runtime.submit("nothing", Nothing{}, read_write(whole));
  EXPECT_NO_THROW(runtime.wait());
}

struct Inner : Host {
  Runtime* runtime;
  Temporary<Vector> whole;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    for (auto const& part : runtime->partition(whole, 3)) runtime->submit("add", Add{}, read_write(part));
    runtime->submit("add", Add{}, read_write(whole));
  }
};

TEST(Divided, TasksInsideTasksUseThem) {
  Runtime runtime({.workers = 2, .host_memory = 1_MiB});
  auto const whole = runtime.temporary<Vector>("w", 10);
  runtime.submit("count", Count{}, write(whole));
  auto const x = runtime.scalar("x", 0.0);
  for (int t = 0; t < 5; ++t) runtime.submit("outer", Inner{{}, &runtime, whole}, read(x));
  runtime.wait();
  auto const found = look(runtime, whole);
  runtime.wait();
  EXPECT_EQ((*found)[9], 9 + 10);
}

TEST(Divided, SeveralThreadsSubmitAndCut) {
  constexpr int threads = 4, rounds = 200;
  Runtime runtime({.workers = 2, .host_memory = 1_MiB, .max_live_tasks = 50});
  for (int repetition = 0; repetition < 5; ++repetition) {
    auto const whole = runtime.temporary<Vector>("w", 12);
    runtime.submit("count", Count{}, write(whole));
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        auto const own = runtime.temporary<Vector>("own", 7);
        runtime.submit("count", Count{}, write(own));
        for (int round = 0; round < rounds; ++round) {
          if ((round + t) % 3 == 0) {
            runtime.submit("add", Add{}, read_write(whole));
          } else {
            auto const tile = (round + t) % 3 == 1 ? 5 : 4;
            for (auto const& part : runtime.partition(whole, tile)) runtime.submit("add", Add{}, commute(part));
          }
          runtime.submit("add", Add{}, read_write(own));
        }
        auto const found = look(runtime, own);
        runtime.wait(own);
        EXPECT_EQ((*found)[6], 6 + rounds);
      });
    }
    for (auto& thread : all) thread.join();
    auto const found = look(runtime, whole);
    runtime.wait();
    for (std::size_t n = 0; n < found->size(); ++n) ASSERT_EQ((*found)[n], static_cast<double>(n) + threads * rounds);
  }
}

// A thread that uses the whole while another one cuts it.
TEST(Divided, TasksThatAreSubmittedDuringTheCutCount) {
  for (int repetition = 0; repetition < 200; ++repetition) {
    static std::unique_ptr<Runtime> runtime;
    if (!runtime) runtime = std::make_unique<Runtime>(RuntimeOptions{.workers = 1, .host_memory = 1_MiB});
    auto const whole = runtime->temporary<Vector>("w", 6);
    runtime->submit("count", Count{}, write(whole));
    std::atomic<bool> go = false;
    std::thread adds([&] {
      while (!go) continue;
      for (int t = 0; t < 5; ++t) runtime->submit("add", Add{}, read_write(whole));
    });
    go = true;
    for (auto const& part : runtime->partition(whole, 2)) runtime->submit("add", Add{}, read_write(part));
    adds.join();
    auto const found = look(*runtime, whole);
    runtime->wait();
    for (std::size_t n = 0; n < found->size(); ++n) ASSERT_EQ((*found)[n], static_cast<double>(n) + 6);
    if (repetition == 199) runtime.reset();
  }
}

// What a failure leaves: the newest value, or none, and never an old one.
struct DividedFailures : testing::Test {
  Runtime runtime{{.workers = 1, .host_memory = 1_MiB}};
  Temporary<Vector> whole = runtime.temporary<Vector>("w", 6);
  Parts<TemporaryOf<Vector>> parts = runtime.partition(whole, 3);
  Parts<TemporaryOf<Vector>> thirds = runtime.partition(whole, 2);

  DividedFailures() {
    runtime.submit("count", Count{}, write(whole));
    for (auto const& third : thirds) look(runtime, third);
    runtime.wait();
  }
  // The message with which the read is refused, or nothing if it finds these values.
  std::string refusal(auto const& data, std::vector<double> const& expected) {
    Found found;
    auto const message = message_of([&] { found = look(runtime, data); });
    if (!message.empty()) return message;
    runtime.wait();
    EXPECT_EQ(*found, expected);
    return "";
  }
  void fails() {
    EXPECT_EQ(message_of([&] { runtime.wait(); }), "it broke");
  }
};

TEST_F(DividedFailures, APartIsLost) {
  runtime.submit("throw", Throw{}, read_write(parts(1)));
  look(runtime, whole);
  fails();
  EXPECT_EQ(refusal(parts(0), values(0, 1, 2)), "");
  EXPECT_THAT(refusal(parts(1), {}), HasSubstr("'w(1)', which an earlier failure left without a value"));
  EXPECT_THAT(refusal(whole, {}), HasSubstr("'w', which an earlier failure left without a value"));
  EXPECT_THAT(refusal(thirds(0), {}),
              HasSubstr("'w', which have no value, because no task has written them or a failure took it"));
  runtime.submit("count", Count{{}, 7}, write(parts(1)));
  EXPECT_EQ(refusal(thirds(1), values(2, 7)), "");
  EXPECT_EQ(refusal(whole, values(0, 1, 2, 7, 8, 9)), "");
}

TEST_F(DividedFailures, TheWholeIsLost) {
  runtime.submit("throw", Throw{}, read_write(whole));
  look(runtime, parts(0));
  fails();
  EXPECT_THAT(refusal(parts(0), {}), HasSubstr("'w(0)', which an earlier failure left without a value"));
  EXPECT_THAT(refusal(thirds(0), {}), HasSubstr("'w', which have no value"));
  EXPECT_THAT(refusal(whole, {}), HasSubstr("'w', which an earlier failure left without a value"));
  EXPECT_THAT(message_of([&] { runtime.submit("fill", Count{}, write(thirds(0))); }), HasSubstr("'w', which have no"));
  runtime.submit("count", Count{{}, 1}, write(whole));
  EXPECT_EQ(refusal(parts(1), values(4, 5, 6)), "");
}

TEST_F(DividedFailures, ACancelledWriteOfTheWholeLeavesNoOldValue) {
  auto const x = runtime.scalar("x", 0.0);
  runtime.submit("throw", Throw{}, write(x));
  runtime.submit("count", Nothing{}, write(whole), read(x));  // is cancelled
  fails();
  EXPECT_THAT(refusal(whole, {}), HasSubstr("'w', which an earlier failure left without a value"));
  EXPECT_THAT(refusal(thirds(2), {}), HasSubstr("'w', which have no value"));
  runtime.submit("count", Count{{}, 1}, write(whole));
  EXPECT_EQ(refusal(thirds(2), values(5, 6)), "");
}

TEST_F(DividedFailures, ACancelledWriteOfAPartLeavesNoOldValue) {
  auto const x = runtime.scalar("x", 0.0);
  runtime.submit("throw", Throw{}, write(x));
  runtime.submit("count", Nothing{}, write(thirds(1)), read(x));  // is cancelled
  auto const found = look(runtime, thirds(0));
  EXPECT_EQ(message_of([&] { runtime.wait(thirds(1)); }), "it broke");
  runtime.wait(thirds(0));  // the wait for another part does not wait for the task that looks at this one
  EXPECT_EQ(*found, values(0, 1));
  fails();
  EXPECT_THAT(refusal(thirds(1), {}), HasSubstr("'w(1)', which an earlier failure left without a value"));
  EXPECT_THAT(refusal(whole, {}), HasSubstr("'w(1)', which have no value"));
  EXPECT_THAT(refusal(parts(0), {}), HasSubstr("'w(1)', which have no value"));
}

// The copies themselves are cancelled: where the value was it still is, and it is copied again.
TEST_F(DividedFailures, CancelledCopiesAreMadeAgain) {
  for (auto const& part : parts) runtime.submit("add", Add{}, read_write(part));
  runtime.wait();
  std::promise<void> go;
  std::shared_future<void> const gone = go.get_future().share();
  runtime.submit("wait for", WaitFor{{}, gone}, write(runtime.temporary<Vector>("other", 1)));
  look(runtime, whole);
  look(runtime, thirds(0));
  runtime.cancel(std::make_exception_ptr(std::runtime_error("it broke")));
  go.set_value();
  fails();
  EXPECT_EQ(refusal(whole, values(1, 2, 3, 4, 5, 6)), "");
  EXPECT_EQ(refusal(thirds(1), values(3, 4)), "");
  EXPECT_EQ(refusal(parts(1), values(4, 5, 6)), "");
}

// A write of one part makes the division the only one that counts: what it lacks is copied before.
TEST_F(DividedFailures, APartIsWrittenAfterCancelledCopiesOfOthers) {
  runtime.submit("add", Add{}, read_write(whole));
  runtime.wait();
  std::promise<void> go;
  std::shared_future<void> const gone = go.get_future().share();
  runtime.submit("wait for", WaitFor{{}, gone}, write(runtime.temporary<Vector>("other", 1)));
  look(runtime, parts(0));
  runtime.cancel(std::make_exception_ptr(std::runtime_error("it broke")));
  go.set_value();
  fails();
  runtime.submit("count", Count{{}, 7}, write(parts(0)));
  EXPECT_EQ(refusal(parts(1), values(4, 5, 6)), "");
  EXPECT_EQ(refusal(whole, values(7, 8, 9, 4, 5, 6)), "");
}

// One gather runs, the other is cancelled.
TEST_F(DividedFailures, AHalfGatheredWholeIsNotRead) {
  auto const x = runtime.scalar("x", 0.0);
  for (auto const& part : parts) runtime.submit("add", Add{}, read_write(part));
  runtime.submit("throw", Throw{}, write(x));
  runtime.submit("count", Nothing{}, read_write(parts(1)), read(x));  // is cancelled
  look(runtime, whole);
  look(runtime, thirds(0));
  fails();
  EXPECT_THAT(refusal(whole, {}), HasSubstr("'w', which an earlier failure left without a value"));
  EXPECT_THAT(refusal(thirds(0), {}), HasSubstr("'w(0)', which an earlier failure left without a value"));
  EXPECT_EQ(refusal(parts(0), values(1, 2, 3)), "");
  runtime.submit("count", Count{}, write(parts(1)));
  EXPECT_EQ(refusal(thirds(1), values(3, 0)), "");
}

// A scatter is cancelled, and what would have changed its target.
TEST_F(DividedFailures, ACancelledChangeAfterAScatterIsNotForgotten) {
  runtime.submit("count", Count{{}, 10}, write(whole));
  runtime.wait();
  std::promise<void> go;
  std::shared_future<void> const gone = go.get_future().share();
  runtime.submit("wait for", WaitFor{{}, gone}, write(runtime.temporary<Vector>("other", 1)));
  runtime.submit("add", Add{}, read_write(parts(0)));
  runtime.cancel(std::make_exception_ptr(std::runtime_error("it broke")));
  go.set_value();
  fails();
  EXPECT_THAT(refusal(parts(0), {}), HasSubstr("without a value"));
  // A worker may have had that scatter.
  EXPECT_THAT(refusal(parts(1), values(13, 14, 15)), AnyOf("", HasSubstr("without a value")));
  EXPECT_THAT(refusal(whole, {}), HasSubstr("which have no value"));
  for (auto const& part : parts) runtime.submit("count", Count{}, write(part));
  EXPECT_EQ(refusal(whole, values(0, 1, 2, 0, 1, 2)), "");
}

// A submission that is refused after its copies were submitted leaves them.
TEST_F(DividedFailures, ARefusedSubmissionChangesNothing) {
  for (auto const& part : parts) runtime.submit("add", Add{}, read_write(part));
  auto const never = runtime.temporary<Vector>("never", 1);
  for (int t = 0; t < 2; ++t) {
    EXPECT_THAT(message_of([&] { runtime.submit("refused", Nothing{}, write(thirds(0)), read(never)); }),
                HasSubstr("'never', which has no origin"));
  }
  EXPECT_EQ(refusal(parts(1), values(4, 5, 6)), "");
  EXPECT_EQ(refusal(whole, values(1, 2, 3, 4, 5, 6)), "");
  EXPECT_EQ(runtime.statistics().planner.tasks_run, 7U + 2 + 2 + 2 + 3 + 2) << "copied once";
}

TEST(Divided, TheWholeAndAPartHaveToFitIntoOneMemory) {
  Runtime runtime({.workers = 1, .host_memory = 8 * 4096});
  auto const whole = runtime.temporary<double>("w", 6 * 512);
  runtime.submit("count", Count{}, write(whole));
  auto const halves = runtime.partition(whole, 3 * 512), pages = runtime.partition(whole, 512);
  try {
    runtime.submit("add", Add{}, read_write(halves(0)));
    FAIL();
  } catch (MemoryLimitError const& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("task 'scatter' needs at least"), HasSubstr("divided_test.cpp")));
  }
  runtime.submit("add", Add{}, read_write(pages(0)));
  auto const found = look(runtime, whole);
  runtime.wait();
  EXPECT_EQ((*found)[0], 1);
}

}  // namespace
}  // namespace granary::divided_test
