// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/message_of.hpp"

#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary::temporary_test {
namespace {

using testing::HasSubstr;
template <class DataType>
using Left = Kokkos::View<DataType, Kokkos::LayoutLeft>;
template <class DataType>
using Right = Kokkos::View<DataType, Kokkos::LayoutRight>;

struct Particle {
  std::int32_t id;
  double place[3];
  bool operator==(Particle const&) const = default;
};
static_assert(std::is_trivially_copyable_v<Particle>);

template <class T>
T value(std::size_t i) {
  if constexpr (std::is_same_v<T, Particle>) {
    return {static_cast<std::int32_t>(i), {0.5, static_cast<double>(i), -1}};
  } else {
    return static_cast<T>(i);
  }
}

RuntimeOptions const one_worker{
    .workers = 1, .host_memory = 64_KiB, .scratch = testing::TempDir(), .models = models_off};

// Elements in the order of memory.
struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = value<typename X::value_type>(i);
  }
};

// What a body is told of a View, and whether its elements are those of Fill.
struct Seen {
  bool filled = true;
  bool left = false;
  std::vector<std::size_t> extents = {};
};
struct Look {
  static constexpr bool launches_kokkos_kernels = false;
  Seen* seen = nullptr;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    using T = typename X::non_const_value_type;
    for (std::size_t i = 0; i < x.size(); ++i) seen->filled = seen->filled && x.data()[i] == value<T>(i);
    for (std::size_t d = 0; d < static_cast<std::size_t>(X::rank); ++d) seen->extents.push_back(x.extent(d));
    seen->left = std::is_same_v<typename X::array_layout, Kokkos::LayoutLeft>;
    EXPECT_TRUE(x.span_is_contiguous());
  }
};

template <class View>
Seen look(Runtime& runtime, Data<View> const& data) {
  Seen seen;
  runtime.submit("fill", Fill{}, write(data));
  runtime.submit("look", Look{&seen}, read(data));
  runtime.wait();
  EXPECT_TRUE(seen.filled);
  return seen;
}

TEST(Temporary, HasTheDataTypeAndTheLayoutOfTheView) {
  Runtime runtime(one_worker);
  auto const left = look(runtime, runtime.temporary<Left<float* [3]>>("left", 5));
  EXPECT_TRUE(left.left);
  EXPECT_THAT(left.extents, testing::ElementsAre(5, 3));
  auto const right = look(runtime, runtime.temporary<Right<double**>>("right", 4, 7U));
  EXPECT_FALSE(right.left);
  EXPECT_THAT(right.extents, testing::ElementsAre(4, 7));
  auto const fixed = look(runtime, runtime.temporary<Left<int[2][5]>>());
  EXPECT_THAT(fixed.extents, testing::ElementsAre(2, 5));
  auto const native = look(runtime, runtime.temporary<Kokkos::View<double***>>(2, 3, 4));
  EXPECT_THAT(native.extents, testing::ElementsAre(2, 3, 4));
  EXPECT_EQ(native.left, (std::is_same_v<Kokkos::View<double***>::array_layout, Kokkos::LayoutLeft>));
}

TEST(Temporary, OfElementsIsInLayoutRight) {
  Runtime runtime(one_worker);
  auto const unnamed = runtime.temporary<double>(4, 5);
  auto const named = runtime.temporary<double>("named", 4, 5);
  static_assert(std::is_same_v<decltype(unnamed), decltype(named)>);
  static_assert(std::is_same_v<std::remove_const_t<decltype(named)>, Temporary<Right<double**>>>);
  EXPECT_THAT(look(runtime, named).extents, testing::ElementsAre(4, 5));
  EXPECT_FALSE(look(runtime, unnamed).left);
}

TEST(Temporary, HasUpToEightDimensions) {
  Runtime runtime(one_worker);
  EXPECT_THAT(look(runtime, runtime.temporary<double>()).extents, testing::ElementsAre());
  EXPECT_THAT(look(runtime, runtime.temporary<Kokkos::View<float>>("scalar")).extents, testing::ElementsAre());
  EXPECT_THAT(look(runtime, runtime.temporary<int>(2)).extents, testing::ElementsAre(2));
  EXPECT_THAT(look(runtime, runtime.temporary<int>(2, 3, 2, 1)).extents, testing::ElementsAre(2, 3, 2, 1));
  EXPECT_THAT(look(runtime, runtime.temporary<int>(2, 1, 2, 1, 3, 1, 2)).extents,
              testing::ElementsAre(2, 1, 2, 1, 3, 1, 2));
  EXPECT_THAT(look(runtime, runtime.temporary<Left<int********>>("all", 1, 2, 3, 1, 2, 1, 2, 2)).extents,
              testing::ElementsAre(1, 2, 3, 1, 2, 1, 2, 2));
  EXPECT_THAT(look(runtime, runtime.temporary<Right<int****** [2][2]>>("all", 1, 2, 3, 1, 2, 1)).extents,
              testing::ElementsAre(1, 2, 3, 1, 2, 1, 2, 2));
}

TEST(Temporary, OfStructsGoesToScratchAndBack) {
  Runtime runtime(one_worker);
  std::vector<Temporary<Left<Particle**>>> parts;
  for (int i = 0; i < 6; ++i) parts.push_back(runtime.temporary<Left<Particle**>>("particles", 40, 20));
  for (auto const& part : parts) runtime.submit("fill", Fill{}, write(part));
  std::vector<Seen> seen(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) runtime.submit("look", Look{&seen[i]}, read(parts[i]));
  runtime.wait();
  EXPECT_GT(runtime.figures().bytes_written, 0U);
  for (auto const& of : seen) {
    EXPECT_TRUE(of.filled);
    EXPECT_TRUE(of.left);
  }
}

// One variable holds a handle on a View or a temporary.
template <class View>
void hold_either() {
  Runtime runtime(one_worker);
  View const view("view", 4, 3);
  for (bool const of_view : {true, false}) {
    Temporary<View> const either = of_view ? runtime.data(view) : runtime.temporary<View>("own", 4, 3);
    runtime.submit("fill", Fill{}, write(either));
    auto const part = [&] {  // keeps the View, as the handle does
      Temporary<View> const again = either;
      return runtime.partition(again, 4, 3);
    }();
    runtime.submit("fill", Fill{}, read_write(part(0, 0)));
    runtime.wait();
  }
  bool const rows = view.stride(1) == 1;
  EXPECT_EQ(view(1, 1), rows ? 4 : 5);
  EXPECT_EQ(view(2, 0), rows ? 6 : 2);
}
TEST(Temporary, IsHeldByOneTypeWithViews) {
  hold_either<Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>>();
  hold_either<Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace>>();
}

TEST(Temporary, IsNamedInMessages) {
  Runtime runtime(one_worker);
  auto const reads = [&](auto const& data) {
    return test::message_of([&] { runtime.submit("look", Look{}, read(data)); });
  };
  EXPECT_THAT(reads(runtime.temporary<double>("halo", 3)), HasSubstr("reads data 'halo', which has no origin"));
  EXPECT_THAT(reads(runtime.temporary<Left<double*>>(std::string("left"), 3)), HasSubstr("reads data 'left'"));
  EXPECT_THAT(reads(runtime.temporary<double>(3)), HasSubstr("reads data 'temporary'"));
}

TEST(Temporary, ThatCannotBeCountedIsRefused) {
  Runtime runtime(one_worker);
  auto const refusal = [](auto const& act) { return test::message_of(act); };
  EXPECT_EQ(refusal([&] { return runtime.temporary<double>((1ULL << 61U) + 512); }),
            "an array of 2305843009213694464 elements of 8 bytes is too large: the limit is 2^63 - 1 bytes");
  EXPECT_EQ(refusal([&] { return runtime.temporary<double>(1ULL << 33U, 1ULL << 33U); }),
            "an array of 8589934592 x 8589934592 elements of 8 bytes is too large: the limit is 2^63 - 1 bytes");
  EXPECT_EQ(refusal([&] { return runtime.temporary<Left<float* [4]>>("x", 1ULL << 62U); }),
            "an array of 4611686018427387904 x 4 elements of 4 bytes is too large: the limit is 2^63 - 1 bytes");
  EXPECT_EQ(refusal([&] { return runtime.temporary<double>(-1); }),
            "an array cannot have an extent of -1: extents must be at least 0");
  EXPECT_EQ(refusal([&] { return runtime.temporary<Right<double**>>("x", 3, -2); }),
            "an array cannot have an extent of -2: extents must be at least 0");
  EXPECT_THAT(refusal([&] { return runtime.temporary<double>("empty", 0, 3); }), HasSubstr("'empty'"));
  EXPECT_NO_THROW(static_cast<void>(runtime.temporary<double>(3, 4U)));
}

}  // namespace
}  // namespace granary::temporary_test
