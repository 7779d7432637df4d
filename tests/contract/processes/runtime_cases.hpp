// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each of several processes does with a Runtime; `make(options)` is that Runtime.
#pragma once

#include "support/message_of.hpp"

#include <granary/detail/runtime/api/varying.hpp>
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace granary::test {

inline RuntimeOptions options() {
  return {.scheduler = "prio", .workers = 1, .devices = "none", .host_memory = 16_MiB, .models = models_off};
}

struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  double value;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = value + static_cast<double>(i);
  }
};
struct Add {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Y, class X>
  void operator()(Exec const&, Y y, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) y(i) += x(i);
  }
};
struct Sum {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Y, class X>
  void operator()(Exec const&, Y sum, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) sum() += x(i);
  }
};
template <class E>
struct Throws {
  static constexpr bool launches_kokkos_kernels = false;
  E error;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    throw E(error);
  }
};

// The sum over the entries i of a datum is value * n + n (n - 1) / 2.
inline double sum_of(double value, std::size_t n) {
  auto const count = static_cast<double>(n);
  return value * count + count * (count - 1) / 2;
}

template <class Make>
void values_go_to_where_tasks_read_them(Make const& make) {
  Runtime runtime = make(options());
  constexpr std::size_t n = 1000;
  auto const sum = runtime.scalar("sum", 0.0);
  double expected = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t p = 0; p < runtime.processes(); ++p) {
      auto const x = runtime.temporary<double>("x", n);
      runtime.assign(x, ProcessId(p));
      auto const task = runtime.submit("fill", Fill{p * 10.0}, write(x));
      EXPECT_EQ(task.id().valid(), runtime.process() == ProcessId(p));
      runtime.submit("sum", Sum{}, read_write(sum), read(x));
      expected += sum_of(p * 10.0, n);
    }
    EXPECT_EQ(sum.get(), expected);
  }
  EXPECT_EQ(runtime.is_here(sum), runtime.process() == ProcessId(0));
}

// A new value of so many elements more: 0, 1, 2, ...
struct Extend {
  static constexpr bool launches_kokkos_kernels = false;
  std::size_t more;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    auto const elements = x.before.extent(0) + more;
    for (std::size_t i = 0; i < elements; ++i) x.after(i) = static_cast<double>(i);
    x.resize(elements);
  }
};

// The first process reads arrays of the others, which grow: only the elements that there are go there.
template <class Make>
void varying_values_go_in_their_sizes(Make const& make) {
  Runtime runtime = make(options());
  auto const sum = runtime.scalar("sum", 0.0);
  double expected = 0;
  Bytes sent = 0;
  for (std::uint32_t p = 0; p < runtime.processes(); ++p) {
    auto const x = runtime.varying<double>("x", 100'000, 10);
    runtime.assign(x, ProcessId(p));
    runtime.submit("extend", Extend{p}, write(x));  // none for the first process
    runtime.submit("sum", Sum{}, read_write(sum), read(x));
    runtime.submit("extend", Extend{1000}, read_write(x));
    runtime.submit("sum", Sum{}, read_write(sum), read(x));
    expected += sum_of(0, p) + sum_of(0, p + 1000);
    if (p > 0 && runtime.process() == ProcessId(p)) sent += (p + p + 1000) * sizeof(double);
  }
  runtime.wait();
  EXPECT_EQ(sum.get(), expected);
  EXPECT_EQ(runtime.figures().bytes_sent, sent);
}

template <class Make>
void the_owners_view_has_the_final_value(Make const& make) {
  Runtime runtime = make(options());
  Kokkos::View<double*, Kokkos::HostSpace> const x("x", 100), y("y", 100);
  auto const dx = runtime.data(x), dy = runtime.data(y);
  EXPECT_EQ(runtime.data(x).id(), dx.id());
  std::uint32_t const last = runtime.processes() - 1;
  runtime.assign(dy, ProcessId(last));
  runtime.submit("fill", Fill{1}, write(dx));
  // The other handles end before their tasks.
  for (int i = 0; i < 3; ++i) runtime.submit("add", Add{}, read_write(runtime.data(y)), read(runtime.data(x)));
  runtime.wait(dy);
  if (runtime.process() == ProcessId(last)) {
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(y(i), 3.0 * static_cast<double>(i + 1));
  } else {
    EXPECT_EQ(y(0), 0);
  }
  runtime.wait();
}

template <class Make>
void parts_of_a_matrix_are_dealt_over_the_grid(Make const& make) {
  Runtime runtime = make(options());
  auto const grid = Distribution::for_processes(runtime.processes());
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const a("A", 50, 70);
  auto const tiles = runtime.partition(runtime.data(a), 10, 10);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 7; ++j) {
      EXPECT_EQ(runtime.is_here(tiles(i, j)), grid.owner({i, j}) == runtime.process()) << i << " " << j;
    }
  }
}

template <class Make>
void all_throw_the_first_failure(Make const& make) {
  Runtime runtime = make(options());
  auto const last = ProcessId(runtime.processes() - 1);
  auto const x = runtime.temporary<double>("x", 10), y = runtime.temporary<double>("y", 10);
  runtime.assign(x, last);
  runtime.submit("fill", Throws<DataError>{DataError("a bad value")}, write(x));
  runtime.submit("fill", Fill{1}, write(y));
  runtime.submit("add", Add{}, read_write(y), read(x));
  try {
    runtime.wait();
    FAIL() << "nothing was thrown";
  } catch (DataError const& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("a bad value (in task '"));
  }
  runtime.wait();
  // Of a type that other processes do not know.
  runtime.submit("fail", Throws<std::runtime_error>{std::runtime_error("no granary error")}, write(x));
  auto const message = message_of<std::runtime_error>([&] { runtime.wait(); });
  if (runtime.processes() > 1) {
    EXPECT_THAT(message,
                testing::MatchesRegex("process " + std::to_string(last.value()) +
                                      ": no granary error \\(in task 'fail' [0-9]+ on 'x', submitted at .*\\)"));
  } else {
    EXPECT_EQ(message, "no granary error");
  }
  // It goes on after that.
  auto const sum = runtime.scalar("sum", 0.0);
  runtime.submit("fill", Fill{1}, write(x));
  runtime.submit("sum", Sum{}, read_write(sum), read(x));
  EXPECT_EQ(sum.get(), sum_of(1, 10));
}

template <class Make>
void if_one_cannot_begin_none_does(Make const& make) {
  auto asked = options();
  if (make.is_last()) asked.host_memory = 17;
  EXPECT_NE(message_of([&] { Runtime const runtime = make(asked); }).find("a memory limit of 17 bytes is too small"),
            std::string::npos);
}

// A call of granary in all processes, one of which throws something else before it.
template <class Make>
void run_and_throw_in_the_last(Make const& make) {
  Runtime runtime = make(options());
  auto const x = runtime.temporary<double>("x", 10);
  runtime.submit("fill", Fill{1}, write(x));
  try {
    if (runtime.process() == ProcessId(runtime.processes() - 1)) throw DataError("a bad input");
    runtime.wait();
  } catch (...) {
    runtime.give_up(std::current_exception());
  }
}

template <class Make>
void an_exception_beside_tasks_reaches_all(Make const& make) {
  EXPECT_EQ(message_of<DataError>([&] { run_and_throw_in_the_last(make); }), "a bad input");
  // Without give_up, when all leave because of the same.
  auto const message = message_of<DataError>([&] {
    Runtime runtime = make(options());
    auto const x = runtime.temporary<double>("x", 10);
    runtime.submit("fill", Throws<DataError>{DataError("a bad value")}, write(x));
    runtime.wait();
  });
  // The exception itself is only in the process where the task ran; the others have its text, with task and line.
  EXPECT_EQ(message.find("a bad value"), 0U) << message;
}

// The others wait for a value that does not come: all are ended.
template <class Make>
void one_process_throws(Make const& make) {
  Runtime runtime = make(options());
  auto const sum = runtime.scalar("sum", 0.0);
  auto const x = runtime.temporary<double>("x", 10);
  ProcessId const last(runtime.processes() - 1);
  runtime.assign(sum, ProcessId(0));
  runtime.assign(x, last);
  if (runtime.process() == last) throw DataError("a bad input");
  runtime.submit("fill", Fill{1}, write(x));
  runtime.submit("sum", Sum{}, read_write(sum), read(x));
  runtime.wait();
}

template <class Make>
void a_grid_has_all_processes(Make const& make) {
  auto asked = options();
  asked.grid = Distribution(3, 5);
  EXPECT_THAT(message_of([&] { Runtime const runtime = make(asked); }),
              testing::MatchesRegex("a grid of 3 x 5 has 15 processes, not [0-9] .*"));
}

template <class Make>
void refuses_what_needs_one_process(Make const& make) {
  Runtime runtime = make(options());
  if (runtime.processes() == 1) return;
  auto const t = runtime.temporary<double>("t", 10, 10);
  EXPECT_EQ(message_of([&] { static_cast<void>(runtime.partition(t, 5, 5)); }),
            "a temporary cannot be cut into parts with several processes");
  EXPECT_EQ(message_of([&] { runtime.assign(t, ProcessId(1000)); }),
            "there is no process 1000: there are " + std::to_string(runtime.processes()));
  auto const sum = runtime.scalar("sum", 0.0);
  auto const x = runtime.temporary<double>("x", 10);
  EXPECT_EQ(message_of([&] { runtime.submit("sum", Sum{}, reduce(sum, granary::Sum{}), read(x)); }),
            "data cannot be reduced with several processes");
  Kokkos::View<double*, Kokkos::HostSpace> const view("x", 10);
  auto const whole = runtime.data(view, "whole");
  auto const half = runtime.part(whole, std::pair(0, 5));
  runtime.assign(whole, ProcessId(0));
  EXPECT_EQ(message_of([&] { runtime.assign(half, ProcessId(1)); }),
            "'whole[0:5]' of process 1 shares bytes with 'whole' of process 0: with several processes, such Views need "
            "one owner");
}

}  // namespace granary::test
