// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/granary.hpp>

#include "support/deadline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace granary::runtime_test {
namespace {

using Numbers = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

std::atomic<int> overlaps{0};
std::array<std::atomic<int>, 3> inside{};

// Counts bodies that run while another one works with the same number.
struct Alone {
  explicit Alone(std::size_t number) : here(inside[number]) { overlaps += here.exchange(1); }
  ~Alone() { here = 0; }
  std::atomic<int>& here;
};

struct Add {
  static constexpr bool launches_kokkos_kernels = false;
  std::int64_t value;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    static_assert(!std::is_const_v<typename X::value_type>);
    Alone const alone(0);
    x(0) += value;
  }
};

struct Move {
  static constexpr bool launches_kokkos_kernels = false;
  std::size_t from;
  std::size_t to;
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    Alone const one(from);
    Alone const other(to);
    --x(0);
    ++y(0);
  }
};

struct Compare {
  static constexpr bool launches_kokkos_kernels = false;
  std::int64_t expected;
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    y(0) += x(0) == expected ? 0 : 1;
  }
};

TEST(Commute, SumsOfManyTasksAreComplete) {
  Numbers total("total", 1), wrong("wrong", 1);
  overlaps = 0;
  Runtime runtime({.workers = 4, .host_memory = 1_MiB});
  auto const sum = runtime.data(total), mistakes = runtime.data(wrong);
  for (int round = 1; round <= 10; ++round) {
    for (std::int64_t i = 1; i <= 100; ++i) runtime.submit("add", Add{i}, commute(sum));
    runtime.submit("compare", Compare{5050 * round}, read(sum), commute(mistakes));
  }
  runtime.wait();
  EXPECT_EQ(total(0), 50500);
  EXPECT_EQ(wrong(0), 0) << "a reader ran before the end of the sum";
  EXPECT_EQ(overlaps, 0);
}

TEST(Commute, TwoDataInOppositeOrders) {
  test::require_end("tasks on two data", [] {
    std::array<Numbers, 3> numbers{Numbers("x", 1), Numbers("y", 1), Numbers("z", 1)};
    overlaps = 0;
    Runtime runtime({.workers = 4, .host_memory = 1_MiB});
    std::array const data{runtime.data(numbers[0]), runtime.data(numbers[1]), runtime.data(numbers[2])};
    for (std::size_t t = 0; t < 900; ++t) {
      std::size_t const from = t % 3;
      std::size_t const to = (from + 1 + t % 2) % 3;
      runtime.submit("move", Move{from, to}, commute(data[from]), commute(data[to]));
    }
    runtime.wait();
    for (auto const& number : numbers) EXPECT_EQ(number(0), 0);
    EXPECT_EQ(overlaps, 0);
  });
}

std::atomic<bool> added{false};

struct WaitForAdd {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    added.wait(false);
    x(0) = 1;
  }
};
struct AddAndTell {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) += 10;
    added = true;
    added.notify_all();
  }
};
struct AddOther {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    y(0) += x(0);
  }
};

// The first summand is there only after the second was added.
TEST(Commute, ALaterTaskDoesNotWaitForAnEarlierOne) {
  test::require_end("a later task", [] {
    Numbers total("total", 1), summand("summand", 1);
    added = false;
    Runtime runtime({.workers = 2, .host_memory = 1_MiB});
    auto const sum = runtime.data(total), part = runtime.data(summand);
    runtime.submit("wait", WaitForAdd{}, write(part));
    runtime.submit("add part", AddOther{}, read(part), commute(sum));
    runtime.submit("add and tell", AddAndTell{}, commute(sum));
    runtime.wait();
    EXPECT_EQ(total(0), 11);
  });
}

}  // namespace
}  // namespace granary::runtime_test
