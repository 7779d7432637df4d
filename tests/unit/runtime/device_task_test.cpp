// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using testing::HasSubstr;

constexpr double sentinel = -77;

struct Axpy {
  double a;
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    static_assert(std::is_const_v<typename X::value_type>);
    auto const s = a;
    Kokkos::parallel_for(
        "axpy", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { y(i) += s * x(i); });
  }
};

// y(i) = sum of the row's elements.
struct RowSums {
  template <class Exec, class A, class Y>
  void operator()(Exec const& exec, A a, Y y) const {
    Kokkos::parallel_for(
        "row sums", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)), KOKKOS_LAMBDA(int i) {
          double sum = 0;
          for (std::size_t j = 0; j < a.extent(1); ++j) sum += a(i, j);
          y(i) = sum;
        });
  }
};

struct Total {
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    Kokkos::parallel_reduce(
        "total", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i, double& sum) { sum += x(i); },
        Kokkos::subview(y, 0));
  }
};

// a(i, j) += 100 i + j, for any layout and strides.
struct AddPlaces {
  template <class Exec, class A>
  void operator()(Exec const& exec, A a) const {
    Kokkos::parallel_for(
        "add places", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)), KOKKOS_LAMBDA(int i) {
          for (std::size_t j = 0; j < a.extent(1); ++j) a(i, j) += 100.0 * i + static_cast<double>(j);
        });
  }
};

struct Fill {
  double first;
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    auto const s = first;
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { x(i) = s + i; });
  }
};

struct SetRows {
  template <class Exec, class A>
  void operator()(Exec const& exec, A m) const {
    static_assert(std::is_same_v<typename A::array_layout, Kokkos::LayoutRight>);
    Kokkos::parallel_for(
        "set", Kokkos::RangePolicy<Exec>(exec, 0, m.extent(0)), KOKKOS_LAMBDA(int i) {
          for (std::size_t j = 0; j < m.extent(1); ++j) m(i, j) = i;
        });
  }
};

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Refuse {
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    throw Refused("no");
  }
};

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

/// Two emulated devices, with 0 or 2 host workers.
class DeviceTasks : public testing::TestWithParam<unsigned> {
 protected:
  [[nodiscard]] static RuntimeOptions options(Bytes device_memory = 1_MiB, Bytes host_memory = 4_MiB) {
    return {.workers = GetParam(),
            .devices = "host:2",
            .device_memory = device_memory,
            .host_memory = host_memory,
            .scratch = testing::TempDir()};
  }
  static Bytes moved(Runtime const& runtime) {
    auto const traffic = runtime.figures().device_traffic;
    return traffic.from_host + traffic.to_host + traffic.between;
  }
  // Without host workers, all tasks ran on devices.
  static void expect_devices_worked(Runtime const& runtime) {
    if (GetParam() > 0) return;
    EXPECT_GT(moved(runtime), 0U);
    EXPECT_GT(runtime.figures().devices[0].tasks + runtime.figures().devices[1].tasks, 0U);
  }
};

TEST_P(DeviceTasks, TheSameBodyRunsEverywhere) {
  constexpr int vectors = 6;
  std::vector<Vector> x, y;
  Runtime runtime(options());
  std::vector<Data<Vector>> dx, dy;
  for (int v = 0; v < vectors; ++v) {
    x.emplace_back("x", 1000);
    y.emplace_back("y", 1000);
    Kokkos::deep_copy(x.back(), v + 1.0);
    dx.push_back(runtime.data(x.back()));
    dy.push_back(runtime.data(y.back()));
  }
  for (int step = 0; step < 5; ++step) {
    for (std::size_t v = 0; v < vectors; ++v) runtime.submit("axpy", Axpy{2}, read(dx[v]), read_write(dy[v]));
  }
  runtime.wait();
  for (int v = 0; v < vectors; ++v) {
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(y[static_cast<std::size_t>(v)](i), 10.0 * (v + 1));
  }
  expect_devices_worked(runtime);
}

TEST_P(DeviceTasks, ReductionsAndTemporaries) {
  Vector total("total", 1);
  Runtime runtime(options());
  auto const sum = runtime.data(total);
  auto const a = runtime.temporary<double>(40, 30);
  auto const rows = runtime.temporary<double>(40);
  runtime.submit("set", SetRows{}, write(a));
  runtime.submit("row sums", RowSums{}, read(a), write(rows));
  runtime.submit("total", Total{}, read(rows), write(sum));
  runtime.wait();
  EXPECT_EQ(total(0), 30.0 * 40 * 39 / 2);
  expect_devices_worked(runtime);
}

// A View of `View`'s type in a larger one: AddPlaces is applied three times, and the rest must not change.
template <class Whole, class Part>
void expect_only_the_part_changes(RuntimeOptions const& options, Whole const& whole, Part const& part) {
  Kokkos::deep_copy(whole, sentinel);
  for (std::size_t i = 0; i < part.extent(0); ++i) {
    for (std::size_t j = 0; j < part.extent(1); ++j) part(i, j) = 1;
  }
  {
    Runtime runtime(options);
    auto const data = runtime.data(part);
    for (int step = 0; step < 3; ++step) runtime.submit("add places", AddPlaces{}, read_write(data));
    runtime.wait();
  }
  std::size_t sentinels = 0;
  for (std::size_t e = 0; e < whole.span(); ++e) sentinels += whole.data()[e] == sentinel ? 1 : 0;
  EXPECT_EQ(sentinels, whole.size() - part.size());
  for (std::size_t i = 0; i < part.extent(0); ++i) {
    for (std::size_t j = 0; j < part.extent(1); ++j) {
      ASSERT_EQ(part(i, j), 1 + 3 * (100.0 * static_cast<double>(i) + static_cast<double>(j))) << i << ", " << j;
    }
  }
}

TEST_P(DeviceTasks, GapsOfStridedViewsStayAsTheyAre) {
  using std::pair;
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 12, 9);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> right("right", 12, 9);
  expect_only_the_part_changes(options(), left, Kokkos::subview(left, pair(2, 7), pair(1, 8)));
  expect_only_the_part_changes(options(), right, Kokkos::subview(right, pair(2, 7), pair(1, 8)));
  expect_only_the_part_changes(options(), left, Kokkos::subview(left, pair(3, 4), pair(0, 9)));
  expect_only_the_part_changes(options(), left, left);
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Kokkos::HostSpace>;
  expect_only_the_part_changes(options(), left, Strided(left.data() + 1, Kokkos::LayoutStride(5, 12, 6, 1)));
  expect_only_the_part_changes(options(), left, Strided(left.data(), Kokkos::LayoutStride(3, 2, 6, 6)));
}

TEST_P(DeviceTasks, AVectorWithAStride) {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> a("a", 50, 4);
  Kokkos::deep_copy(a, sentinel);
  Vector x("x", 50);
  Kokkos::deep_copy(x, 3.0);
  auto const column = Kokkos::subview(a, Kokkos::ALL, 2);
  for (std::size_t i = 0; i < 50; ++i) column(i) = static_cast<double>(i);
  Runtime runtime(options());
  auto const dx = runtime.data(x);
  auto const dc = runtime.data(column);
  runtime.submit("axpy", Axpy{2}, read(dx), read_write(dc));
  runtime.wait();
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t j = 0; j < 4; ++j) ASSERT_EQ(a(i, j), j == 2 ? static_cast<double>(i) + 6 : sentinel);
  }
}

TEST_P(DeviceTasks, RefusesViewsThatCannotBeBroughtToADevice) {
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a("a", 12, 9);
  Kokkos::View<double**, Kokkos::LayoutStride, Kokkos::HostSpace> const sparse(a.data(),
                                                                               Kokkos::LayoutStride(3, 2, 4, 24));
  Runtime runtime(options());
  try {
    auto const data = runtime.data(sparse, "sparse");
    FAIL() << "it was accepted";
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("'sparse' (extents 3 x 4, strides 2 x 24)"));
  }
  EXPECT_THROW((void)runtime.data(Kokkos::subview(a, std::pair(2, 2), std::pair(0, 3))), InvalidArgument) << "empty";
  Runtime host({.workers = 1, .devices = "none", .host_memory = 1_MiB});
  Kokkos::deep_copy(a, 1.0);
  auto const data = host.data(sparse);
  host.submit("add places", AddPlaces{}, read_write(data));
  host.wait();
  EXPECT_EQ(sparse(2, 3), 204.0);
}

TEST_P(DeviceTasks, ThreeLevelsWithTinyLimits) {
  constexpr std::size_t n = 4096;  // 32 KiB each
  constexpr int parts_count = 24;
  Vector total("total", n);
  {
    Runtime runtime(options(96_KiB, 160_KiB));
    auto const sum = runtime.data(total);
    std::vector<decltype(runtime.temporary<double>(n))> parts;
    for (int i = 0; i < parts_count; ++i) {
      parts.push_back(runtime.temporary<double>(n));
      runtime.submit("fill", Fill{static_cast<double>(i)}, write(parts.back()));
    }
    for (auto const& part : parts) runtime.submit("axpy", Axpy{1}, read(part), read_write(sum));
    runtime.wait();
    EXPECT_LE(runtime.figures().host_memory_peak, 160_KiB);
    EXPECT_GT(runtime.figures().bytes_written, 0U);
    for (auto const& device : runtime.figures().devices) EXPECT_LE(device.peak, 96_KiB);
  }
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(total(i), parts_count * static_cast<double>(i) + parts_count * (parts_count - 1) / 2);
  }
}

TEST_P(DeviceTasks, WhatABodyThrowsArrives) {
  Vector x("spoiled", 10), y("y", 10);
  Runtime runtime(options());
  auto const dx = runtime.data(x), dy = runtime.data(y);
  runtime.submit("refuse", Refuse{}, read_write(dx));
  runtime.submit("fill", Fill{5}, write(dy));
  EXPECT_THROW(runtime.wait(), Refused);
  EXPECT_EQ(y(9), 14.0);
}

TEST_P(DeviceTasks, HostMemoryOfAnyKindIsAHome) {
  std::vector<double> plain(100, 1.0);
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(plain.data(), 100);
  {
    Runtime runtime(options());
    auto const x = runtime.data(view, "plain");
    runtime.submit("fill", Fill{1}, write(x));
  }
  EXPECT_EQ(plain[99], 100.0);
}

INSTANTIATE_TEST_SUITE_P(HostWorkers, DeviceTasks, testing::Values(0U, 2U));

// Compiled only, in every build: where bodies may run, by their declarations.
struct OnHost : Fill {
  static constexpr bool host_only = true;
};
struct OnDevices : Fill {
  static constexpr bool device_only = true;
};
struct Library : Fill {
  static constexpr bool launches_kokkos_kernels = false;
};
struct DeviceLibrary : Library {
  static constexpr bool host_only = false;
};

template <class Body>
std::pair<bool, bool> runs_on() {
  return {detail::runs_on_host<Body>(), detail::runs_on_devices<Body>()};
}

TEST(Bodies, SayWhereTheyRun) {
  EXPECT_EQ(runs_on<Fill>(), std::pair(true, true));
  EXPECT_EQ(runs_on<OnHost>(), std::pair(true, false));
  EXPECT_EQ(runs_on<OnDevices>(), std::pair(false, true));
  EXPECT_EQ(runs_on<Library>(), std::pair(true, false));
  EXPECT_EQ(runs_on<DeviceLibrary>(), std::pair(true, true));
}

TEST(Bodies, OneForDevicesAloneIsRefusedWhereThereAreNone) {
  Vector x("x", 10);
  Runtime runtime({.workers = 1, .devices = "none", .host_memory = 1_MiB});
  auto const dx = runtime.data(x);
  EXPECT_THROW(runtime.submit("fill", OnDevices{{1}}, write(dx)), InvalidArgument);
}

}  // namespace
}  // namespace granary
