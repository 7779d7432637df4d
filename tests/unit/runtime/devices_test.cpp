// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtimes with emulated devices.
#include <granary/granary.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace granary::devices_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Add {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) y(i) += x(i);
  }
};
struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  double value;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = value;
  }
};

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

RuntimeOptions on_devices(unsigned workers) {
  return {.workers = workers,
          .devices = "host:2",
          .device_memory = 256_KiB,
          .host_memory = 256_KiB,
          .scratch = testing::TempDir(),
          .models = models_off};
}

std::string refusal(RuntimeOptions const& options) {
  return test::message_of([&] { return configure(options); });
}

TEST(DeviceRuntime, RunsTasksOnTheApplicationsViews) {
  constexpr std::size_t n = 10'000;  // 80 kB, so that some are pinned
  for (unsigned workers : {0U, 2U}) {
    Vector x("x", n), y("y", n);
    Kokkos::deep_copy(x, 1.0);
    Runtime runtime(on_devices(workers));
    {
      auto const dx = runtime.data(x), dy = runtime.data(y);
      for (int i = 0; i < 50; ++i) runtime.submit("add", Add{}, read(dx), read_write(dy));
      runtime.wait();
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y(i), 50.0);
    auto const devices = runtime.figures().devices;
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[1].name, "device 1");
    EXPECT_EQ(devices[1].limit, 256_KiB);
    EXPECT_LE(devices[0].tasks + devices[1].tasks, 50U);
    if (workers > 0) continue;
    EXPECT_EQ(devices[0].tasks + devices[1].tasks, 50U);
    EXPECT_GE(runtime.figures().device_traffic.from_host, 2 * n * sizeof(double));
    EXPECT_GE(runtime.figures().device_traffic.to_host, n * sizeof(double));
  }
}

TEST(DeviceRuntime, TemporariesGoFromDevicesToHostMemoryToDisk) {
  constexpr std::size_t n = 4096;  // 32 KiB each, 2 MiB together
  Vector total("total", n);
  {
    Runtime runtime(on_devices(0));
    auto const sum = runtime.data(total);
    std::vector<decltype(runtime.temporary<double>(n))> parts;
    for (int i = 0; i < 64; ++i) {
      parts.push_back(runtime.temporary<double>(n));
      runtime.submit("fill", Fill{static_cast<double>(i)}, write(parts.back()));
    }
    runtime.wait();
    for (auto const& part : parts) runtime.submit("add", Add{}, read(part), read_write(sum));
    runtime.wait();
    EXPECT_LE(runtime.figures().host_memory_peak, 256_KiB);
    for (auto const& device : runtime.figures().devices) EXPECT_LE(device.peak, device.limit);
    EXPECT_GT(runtime.figures().bytes_written, 0U);
    EXPECT_GT(runtime.figures().bytes_read, 0U);
  }
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(total(i), 64.0 * 63 / 2);
}

// Values that pass through host memory find room there. Views have a place of their own, and no task uses what is
// larger than memory.
TEST(DeviceRuntime, LargeViewsAndRefusedTasksLeaveRoomForOthers) {
  for (unsigned const workers : {0U, 1U}) {
    Runtime runtime({.workers = workers, .devices = "host:1", .device_memory = 64_MiB, .host_memory = 1_MiB});
    Vector large("large", 1 << 19);
    auto const data = runtime.data(large);
    auto const temporary = runtime.temporary<double>("temporary", 100);
    runtime.submit("fill", Fill{1}, write(temporary));
    runtime.submit("fill", Fill{1}, write(data));
    EXPECT_NE(test::message_of<MemoryLimitError>(
                  [&] { runtime.submit("add", Add{}, read(temporary), scratch<double>(1 << 18)); }),
              "");
    runtime.submit("add", Add{}, read(temporary), read_write(runtime.part(data, std::pair(0, 100))));
    runtime.wait();
    EXPECT_EQ(large(99), 2);
    EXPECT_EQ(large(100), 1);
  }
}

TEST(DeviceRuntime, ATaskThatFitsOnNoDeviceIsRefusedWithTheNumbers) {
  Runtime runtime(on_devices(0));
  auto const big = runtime.temporary<double>(40'000);
  try {
    runtime.submit("fill", Fill{0.0}, write(big));
    FAIL() << "it was accepted";
  } catch (MemoryLimitError const& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("fill"), HasSubstr("320000 bytes"), HasSubstr("'device 0'"),
                                    HasSubstr("262144 bytes")));
  }
}

TEST(DeviceRuntime, OptionsThatCannotBeAreRefused) {
  EXPECT_THAT(refusal({.workers = 0, .devices = "none"}), HasSubstr("0 workers"));
  EXPECT_THAT(refusal({.devices = "none", .device_memory = 1_MiB}), HasSubstr("there are no devices"));
  EXPECT_THAT(refusal({.devices = "none", .device_lanes = 2}), HasSubstr("there are no devices"));
  EXPECT_THAT(refusal({.devices = "none", .link_bytes_per_second = 1}), HasSubstr("emulated"));
  EXPECT_THAT(refusal({.devices = "host:2", .device_lanes = 65}), HasSubstr("65 lanes"));
  EXPECT_THAT(refusal({.devices = "host:zwei"}), HasSubstr("host:zwei"));
  EXPECT_THAT(refusal({.devices = "host:1", .device_memory = 100}), HasSubstr("100 bytes"));
}

class DeviceEnvironment : public testing::Test {
 protected:
  void set(char const* name, char const* value) {
    ::setenv(name, value, 1);
    m_names.emplace_back(name);
  }
  void TearDown() override {
    for (auto const& name : m_names) ::unsetenv(name.c_str());
  }
  std::vector<std::string> m_names;
};

TEST_F(DeviceEnvironment, FillsInWhatTheProgramLeavesOpen) {
  set("GRANARY_DEVICES", "host:3");
  auto const defaults = configure({});
  EXPECT_EQ(defaults.devices, "host:3");
  EXPECT_EQ(defaults.device_memory, 256_MiB);
  EXPECT_EQ(defaults.device_lanes, 1U);
  EXPECT_EQ(defaults.link_bytes_per_second, 0U);
  set("GRANARY_DEVICE_MEMORY", "2MiB");
  set("GRANARY_DEVICE_LANES", "2");
  set("GRANARY_LINK_BANDWIDTH", "1GB/s");
  set("GRANARY_WORKERS", "0");
  auto const filled = configure({});
  EXPECT_EQ(filled.workers, 0U);
  EXPECT_EQ(filled.device_memory, 2_MiB);
  EXPECT_EQ(filled.device_lanes, 2U);
  EXPECT_EQ(filled.link_bytes_per_second, 1'000'000'000U);
  EXPECT_EQ(configure(filled).device_memory, 2_MiB) << "a second time changes nothing";
  auto const stated = configure({.workers = 1, .devices = "none"});
  EXPECT_EQ(stated.device_memory, 0U) << "without devices what is said of them does not count";
}

TEST_F(DeviceEnvironment, MalformedValuesNameTheVariable) {
  set("GRANARY_DEVICES", "host:0");
  EXPECT_THAT(refusal({}), HasSubstr("GRANARY_DEVICES"));
  set("GRANARY_DEVICES", "host:1");
  for (auto const* name : {"GRANARY_DEVICE_MEMORY", "GRANARY_DEVICE_LANES", "GRANARY_LINK_BANDWIDTH"}) {
    set(name, "lots");
    EXPECT_THAT(refusal({}), HasSubstr(name));
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace granary::devices_test
