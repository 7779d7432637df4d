// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/message_of.hpp"

#include <granary/detail/runtime/api/varying.hpp>
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace granary::varying_test {

using namespace detail;

namespace {

using test::message_of;
using testing::HasSubstr;

RuntimeOptions options(Bytes memory, std::string const& devices = "none") {
  return {.workers = 2,
          .devices = devices,
          .device_memory = devices == "none" ? 0 : 128_KiB,
          .host_memory = memory,
          .scratch = testing::TempDir(),
          .models = models_off};
}

// x becomes x and the number of its elements, `more` times.
struct Append {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  std::size_t more = 1;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    auto const present = x.before.extent(0);
    for (std::size_t i = 0; i < present; ++i) x.after(i) = x.before(i);
    for (std::size_t i = present; i < present + more; ++i) x.after(i) = static_cast<double>(i);
    x.resize(present + more);
  }
};

// The same, and knows how much room it needs.
struct AppendBounded : Append {
  [[nodiscard]] std::size_t most_elements(std::span<std::size_t const> elements, std::size_t access) const {
    return elements[access] + more;
  }
};

// Keeps every second element.
struct Halve {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < x.before.extent(0); i += 2) x.after(kept++) = x.before(i);
    x.resize(kept);
  }
};

// The numbers of elements that it finds, and whether each element is its index times the factor.
struct Look {
  static constexpr bool launches_kokkos_kernels = false;
  std::vector<std::size_t>* seen;
  double factor = 1;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    seen->push_back(x.extent(0));
    for (std::size_t i = 0; i < x.extent(0); ++i) EXPECT_EQ(x(i), factor * static_cast<double>(i));
  }
};

// Leaves so many elements, whether there is room for them or not.
struct Leave {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  std::size_t elements;
  bool fails = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x.resize(elements);
    if (fails) throw DataError("it broke");
  }
};

TEST(Varying, GrowsAndShrinks) {
  Runtime runtime(options(64_KiB));
  auto const x = runtime.varying<double>("x", 1000);
  std::vector<std::size_t> seen;
  runtime.submit("first", Append{0}, write(x));
  runtime.submit("look", Look{&seen}, read(x));
  runtime.submit("append", Append{700}, read_write(x));
  runtime.submit("look", Look{&seen}, read(x));
  runtime.submit("append", Append{300}, read_write(x));
  runtime.submit("halve", Halve{}, read_write(x));
  runtime.submit("look", Look{&seen, 2}, read(x));
  runtime.submit("first", Append{3}, write(x));
  runtime.submit("look", Look{&seen}, read(x));
  runtime.wait(x);
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 700, 500, 3}));
}

// 160 arrays of up to 16 KiB each: a quarter of them have that much, 640 KiB, and host and devices hold 512 KiB.
TEST(Varying, UseTheMemoryThatTheirValuesNeedAndTheDiskForTheRest) {
  constexpr std::size_t number = 160;
  for (auto const* const devices : {"none", "host:2"}) {
    Runtime runtime(options(256_KiB, devices));
    std::vector<Varying<double>> arrays;
    auto const size = [](std::size_t array) { return array % 4 == 0 ? std::size_t{2048} : 16 * (array % 4); };
    for (std::size_t a = 0; a < number; ++a) {
      arrays.push_back(runtime.varying<double>("array " + std::to_string(a), 2048, 32));
      runtime.submit("first", AppendBounded{{size(a) / 2}}, write(arrays.back()));
    }
    for (std::size_t a = 0; a < number; ++a)
      runtime.submit("append", AppendBounded{{size(a) / 2}}, read_write(arrays[a]));
    std::vector<std::size_t> seen;
    for (auto const& array : arrays) {
      runtime.submit("look", Look{&seen}, read(array));
      runtime.wait(array);
    }
    ASSERT_EQ(seen.size(), number);
    for (std::size_t a = 0; a < number; ++a) EXPECT_EQ(seen[a], size(a));
    EXPECT_LE(runtime.figures().host_memory_peak, 256_KiB);
    EXPECT_GT(runtime.figures().bytes_written, 0U);
    EXPECT_LT(runtime.figures().bytes_written, number * 16_KiB) << "values have their own sizes on the disk, too";
  }
}

TEST(Varying, ABodyThatNeedsLessRoomRunsInLessMemory) {
  Runtime runtime(options(24_KiB));
  auto const x = runtime.varying<double>("x", 2000), y = runtime.varying<double>("y", 1000);
  EXPECT_THAT(message_of<MemoryLimitError>([&] { runtime.submit("append", AppendBounded{}, write(x)); }),
              HasSubstr("task 'append' needs at least"));
  runtime.submit("first", AppendBounded{{500}}, write(y));
  for (int i = 0; i < 5; ++i) runtime.submit("append", AppendBounded{{100}}, read_write(y));
  runtime.wait();
  EXPECT_LE(runtime.figures().host_memory_peak, 16_KiB) << "two values of 8000 bytes at most";
}

TEST(Varying, AValueBeyondItsRoomFailsTheTask) {
  for (auto const* const devices : {"none", "host:1"}) {
    Runtime runtime(options(64_KiB, devices));
    auto const x = runtime.varying<double>("x", 10);
    runtime.submit("too many", Leave{11}, write(x));
    EXPECT_EQ(message_of([&] { runtime.wait(); }), "task 'too many' has left 88 bytes in 'x', which has room for 80");
    runtime.submit("first", Append{10}, write(x));
    runtime.wait();
  }
}

// Does not know how many elements it leaves.
struct Undecided : Append {
  [[nodiscard]] std::size_t most_elements(std::span<std::size_t const>, std::size_t) const {
    throw DataError("no bound is known");
  }
};

TEST(Varying, ABoundThatThrowsFailsTheTaskAndNothingElse) {
  for (auto const* const devices : {"none", "host:1"}) {
    Runtime runtime(options(64_KiB, devices));
    auto const x = runtime.varying<double>("x", 10), y = runtime.varying<double>("y", 10);
    std::vector<std::size_t> seen;
    auto const said = [&](auto const& call) { return message_of<DataError>(call); };
    // Asked when it is submitted, or when the task before it has ended.
    runtime.submit("undecided", Undecided{}, write(x));
    EXPECT_EQ(said([&] { runtime.wait(); }), "no bound is known");
    EXPECT_EQ(runtime.failures().size(), 1U);
    runtime.wait();
    runtime.submit("first", Append{5}, write(x));
    runtime.submit("undecided", Undecided{}, read_write(x));
    runtime.submit("look", Look{&seen}, read(x));
    runtime.submit("first", Append{3}, write(y));
    EXPECT_EQ(said([&] { runtime.wait(x); }), "no bound is known");
    runtime.wait();
    EXPECT_TRUE(seen.empty()) << "it would have read what was not written";
    runtime.submit("look", Look{&seen}, read(y));
    runtime.wait();
    runtime.submit("first", Append{4}, write(x));
    runtime.submit("look", Look{&seen}, read(x));
    runtime.wait();
    EXPECT_EQ(seen, (std::vector<std::size_t>{3, 4}));
    runtime.submit("too many", Leave{11}, write(y));
    EXPECT_EQ(message_of([&] { runtime.wait(); }), "task 'too many' has left 88 bytes in 'y', which has room for 80");
  }
}

TEST(Varying, AFailedTaskLeavesNoValue) {
  Runtime runtime(options(64_KiB));
  auto const x = runtime.varying<double>("x", 10);
  runtime.submit("first", Append{10}, write(x));
  runtime.submit("fails", Leave{3, true}, read_write(x));
  EXPECT_EQ(message_of<DataError>([&] { runtime.wait(); }), "it broke");
  EXPECT_THAT(message_of([&] { runtime.submit("append", Append{}, read_write(x)); }),
              HasSubstr("task 'append' reads data 'x', which an earlier failure left without a value"));
}

TEST(Varying, RefusesSizesThatCannotBe) {
  Runtime runtime(options(64_KiB));
  EXPECT_EQ(message_of([&] { static_cast<void>(runtime.varying<double>("x", 10, 11)); }),
            "data 'x' are expected to have 88 bytes, but at most 80");
  EXPECT_EQ(message_of([&] { static_cast<void>(runtime.varying<double>("x", 0)); }), "data 'x' has no bytes");
  auto const x = runtime.varying<std::uint8_t>("x", 10, 0);
  runtime.submit("nothing", Leave{0}, write(x));
  std::vector<std::size_t> seen;
  runtime.submit("look", Look{&seen}, read(x));
  runtime.wait();
  EXPECT_EQ(seen, std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace granary::varying_test
