// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data where the application has them: in device memory, on both sides, read-only, of any rank and type.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/api/dual_view.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace granary::resident_test {
namespace {

using test::Increase;
using test::message_of;
using test::OnAnyWorker;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Sum : OnAnyWorker {
  template <class Exec, class X, class S>
  void operator()(Exec const&, X x, S s) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) s() += x(i);
  }
};
// The first element of a View of any rank.
struct First {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    *y.data() = *x.data();
  }
};

RuntimeOptions devices_alone(std::string const& devices) {
  return {.workers = 0U, .devices = devices, .models = models_off};
}
RuntimeOptions with_core(std::string const& devices) {
  return {.workers = 1U, .devices = devices, .models = models_off};
}

TEST(DeviceViews, AreUsedInPlaceByTheirDevice) {
  Runtime runtime(devices_alone("host:1"));
  auto const u = runtime.device_view<double*>(0, "u", 1000);
  for (std::size_t i = 0; i < 1000; ++i) u.view(i) = 1;  // emulated: the host can do that
  auto const du = runtime.data(u);
  for (int i = 0; i < 10; ++i) runtime.submit("increase", Increase{}, read_write(du));
  runtime.wait();
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(u.view(i), 11);
  EXPECT_EQ(runtime.figures().device_traffic.from_host + runtime.figures().device_traffic.to_host, 0U);
  EXPECT_EQ(runtime.figures().devices[0].peak, 0U) << "they do not count against the limit";
  for (std::size_t i = 0; i < 1000; ++i) u.view(i) = 2;  // between runs they are the application's
  runtime.submit("increase", Increase{}, read_write(du));
  runtime.wait(du);
  EXPECT_EQ(u.view(999), 3);
}

TEST(DeviceViews, AreBroughtToOtherWorkersAndBack) {
  Runtime runtime(with_core("host:2"));
  auto const u = runtime.device_view<double*>(0, "u", 500);
  auto const v = runtime.device_view<double*>(1, "v", 500);
  for (std::size_t i = 0; i < 500; ++i) u.view(i) = v.view(i) = static_cast<double>(i);
  Vector const x("x", 500);
  {
    auto const du = runtime.data(u), dv = runtime.data(v);
    auto const dx = runtime.data(x);
    for (int i = 0; i < 200; ++i) {
      runtime.submit("increase", Increase{}, read_write(du));
      runtime.submit("increase", Increase{}, read_write(dv));
      runtime.submit("increase", Increase{}, read_write(dx));
    }
  }
  runtime.wait();
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(u.view(i), static_cast<double>(i) + 200);
    ASSERT_EQ(v.view(i), static_cast<double>(i) + 200);
    ASSERT_EQ(x(i), 200);
  }
}

TEST(DeviceViews, OutliveTheirRuntime) {
  using Owner = decltype(std::declval<Runtime&>().device_view<double*>(0, "u", 1));
  std::unique_ptr<Owner> kept;
  {
    Runtime runtime(devices_alone("host:1"));
    kept = std::make_unique<Owner>(runtime.device_view<double*>(0, "u", 10));
    runtime.submit("increase", Increase{}, write(runtime.data(*kept)));
  }
  kept->view(9) = 1;
  EXPECT_EQ(kept->view(9), 1);
}

TEST(DeviceViews, MayBeLargerThanTheLimitForData) {
  auto options = devices_alone("host:1");
  options.device_memory = 4_KiB;
  Runtime runtime(options);
  auto const u = runtime.device_view<double*>(0, "u", 100'000);
  runtime.submit("increase", Increase{}, write(runtime.data(u)));
  runtime.wait();
  EXPECT_LE(runtime.figures().devices[0].peak, 4_KiB);
}

TEST(DeviceViews, LiveAsLongAsTheirParts) {
  Runtime runtime(devices_alone("host:2"));
  std::weak_ptr<void const> memory;
  {
    auto const parts = [&] {
      auto const u = runtime.device_view<double*>(1, "u", 100);
      memory = u.memory;
      auto const whole = runtime.data(u);
      runtime.submit("increase", Increase{}, write(whole));
      auto const middle = runtime.part(whole, std::pair(40, 60));
      return std::pair(runtime.partition(whole, 30), runtime.part(middle, std::pair(0, 10)));
    }();
    runtime.wait();
    EXPECT_FALSE(memory.expired());
    runtime.submit("increase", Increase{}, read_write(parts.second));
    runtime.submit("increase", Increase{}, read_write(parts.first(3)));
    runtime.wait();
  }
  runtime.wait();
  EXPECT_TRUE(memory.expired());
}

TEST(DeviceViews, LiveAsLongAsTheirDataAlsoIfTheSameBytesWereRegisteredWithoutTheirOwner) {
  Runtime runtime(devices_alone("host:1"));
  std::weak_ptr<void const> memory;
  {
    auto const both = [&] {
      auto const u = runtime.device_view<double*>(0, "u", 10);
      memory = u.memory;
      auto const elements = runtime.data(u.view);
      return std::pair(elements, runtime.data(u));
    }();
    runtime.submit("increase", Increase{}, write(both.second));
    runtime.wait();
    EXPECT_FALSE(memory.expired());
  }
  runtime.wait();
  EXPECT_TRUE(memory.expired());
}

TEST(DeviceViews, AreRefusedWithoutTheirDevice) {
  Runtime one(devices_alone("host:1"));
  EXPECT_EQ(message_of([&] { static_cast<void>(one.device_view<double*>(3, "u", 5)); }),
            "there is no device 3 for 'u': this Runtime uses 1");
  EXPECT_EQ(message_of<DeviceError>([&] { static_cast<void>(one.device_view<double*>(0, "u", 1ULL << 50)); }).empty(),
            false);
}

TEST(Hints, ChangeNoResult) {
  Runtime runtime(with_core("host:2"));
  Vector const x("x", 1000);
  auto const data = runtime.data(x);
  for (int i = 0; i < 40; ++i) {
    runtime.submit("increase", Increase{}, read_write(data));
    runtime.prefetch(data, Runtime::device_node(i % 2));
    runtime.will_not_use(data);
  }
  runtime.wait();
  runtime.prefetch(data, Runtime::device_node(0));
  runtime.wait(data);
  EXPECT_EQ(x(999), 40);
  EXPECT_EQ(message_of([&] { runtime.prefetch(data, NodeId(17)); }),
            "data 'x' cannot be prefetched to memory node 17: there is no such node");
}

TEST(ConstViews, AreReadByTasks) {
  for (auto const* const devices : {"none", "host:1"}) {
    Runtime runtime(with_core(devices));
    Vector const x("x", 100);
    Kokkos::deep_copy(x, 2);
    Kokkos::View<double const*, Kokkos::HostSpace> const constant = x;
    auto const data = runtime.data(constant);
    EXPECT_EQ(data.id(), runtime.data(x).id()) << "the same bytes are the same datum";
    auto const sum = runtime.scalar<double>("sum");
    for (int i = 0; i < 10; ++i) runtime.submit("sum", Sum{}, read(data), read_write(sum));
    EXPECT_EQ(sum.get(), 2000);
  }
}

struct Particle {
  double position[3];
  int cell;
};
struct Move {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
  template <class Exec, class P>
  void operator()(Exec const&, P particles) const {
    for (std::size_t i = 0; i < particles.extent(0); ++i) {
      particles(i).position[2] += 0.5;
      ++particles(i).cell;
    }
  }
};

TEST(Elements, MayBeStructs) {
  for (auto const* const devices : {"none", "host:2"}) {
    Runtime runtime(with_core(devices));
    Kokkos::View<Particle*, Kokkos::HostSpace> const particles("particles", 77);
    auto const data = runtime.data(particles);
    for (int i = 0; i < 20; ++i) runtime.submit("move", Move{}, read_write(data));
    runtime.wait();
    EXPECT_EQ(particles(76).position[2], 10);
    EXPECT_EQ(particles(76).cell, 20);
  }
}

template <class View>
void first_of(View const& view, double value) {
  *view.data() = value;
  for (auto const* const devices : {"none", "host:1"}) {
    Runtime runtime(with_core(devices));
    auto const first = runtime.scalar<double>("first");
    runtime.submit("first", First{}, read(runtime.data(view)), write(first));
    EXPECT_EQ(first.get(), value) << "rank " << View::rank;
  }
}

TEST(Ranks, FromNoneToEight) {
  using Kokkos::HostSpace;
  first_of(Kokkos::View<double, HostSpace>("0"), 1);
  first_of(Kokkos::View<double*, HostSpace>("1", 3), 2);
  first_of(Kokkos::View<double**, HostSpace>("2", 3, 2), 3);
  first_of(Kokkos::View<double***, HostSpace>("3", 3, 2, 2), 4);
  first_of(Kokkos::View<double*** [2], HostSpace>("4", 3, 2, 2), 5);
  first_of(Kokkos::View<double*****, HostSpace>("5", 3, 2, 2, 1, 2), 6);
  first_of(Kokkos::View<double******, HostSpace>("6", 3, 2, 2, 1, 2, 2), 7);
  first_of(Kokkos::View<double*******, HostSpace>("7", 3, 2, 2, 1, 2, 2, 2), 8);
  first_of(Kokkos::View<double********, HostSpace>("8", 3, 2, 2, 1, 2, 2, 2, 2), 9);
}

TEST(Subviews, NeedNoNameForTheirType) {
  Runtime runtime(with_core("host:1"));
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const a("a", 10, 10);
  auto const column = runtime.data(Kokkos::subview(a, Kokkos::ALL, 3));
  auto const row = runtime.data(Kokkos::subview(a, 4, Kokkos::ALL), "row");
  runtime.submit("increase", Increase{}, read_write(column));
  runtime.wait();
  EXPECT_EQ(a(9, 3), 1);
  EXPECT_EQ(a(9, 2), 0);
  static_cast<void>(row);
}

// What DualFlags uses of a Kokkos::DualView; both sides of a real one are the same memory without a device backend.
struct FakeDual {
  using t_host = Vector;
  Vector h_view;
  using DeviceSide =
      Kokkos::View<double*, detail::DeviceExecutionSpace::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  DeviceSide d_view;
  [[nodiscard]] Vector const& view_host() const { return h_view; }
  [[nodiscard]] DeviceSide const& view_device() const { return d_view; }
  std::shared_ptr<std::pair<bool, bool>> modified = std::make_shared<std::pair<bool, bool>>();  // host, device
  [[nodiscard]] bool need_sync_host() const { return modified->second; }
  [[nodiscard]] bool need_sync_device() const { return modified->first; }
  void modify_host() { modified->first = true; }
  void modify_device() { modified->second = true; }
  void clear_sync_state() { *modified = {}; }
};

TEST(DualViews, TellAndHearWhichSideHoldsTheValue) {
  Runtime runtime(devices_alone("host:1"));
  auto const device = runtime.device_view<double*>(0, "dual", 100);
  FakeDual dual{Vector("dual", 100), FakeDual::DeviceSide(device.view.data(), 100)};
  auto const fill = [](auto const& side, double value) {
    for (std::size_t i = 0; i < 100; ++i) side(i) = value;
  };
  fill(dual.h_view, 5);
  fill(dual.d_view, 7);
  dual.modify_device();
  auto const data = dual_data(runtime, dual);
  runtime.submit("increase", Increase{}, read_write(data));  // on the device, in place: it holds the value
  EXPECT_FALSE(dual.need_sync_host()) << "while tasks use it, granary knows";
  runtime.wait(data);
  EXPECT_EQ(dual.d_view(99), 8);
  EXPECT_EQ(dual.h_view(99), 8);
  EXPECT_FALSE(dual.need_sync_device());
  EXPECT_EQ(runtime.figures().device_traffic.from_host, 0U);

  fill(dual.h_view, 1);
  dual.modify_host();
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait();
  EXPECT_EQ(dual.h_view(0), 2);
  EXPECT_EQ(runtime.figures().device_traffic.from_host, 800U);

  fill(dual.d_view, 40);
  dual.modify_device();
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait();
  EXPECT_EQ(dual.h_view(0), 41);
  EXPECT_EQ(runtime.figures().device_traffic.from_host, 800U) << "the device side was the value";

  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait();
  EXPECT_EQ(dual.h_view(0), 42);
  EXPECT_EQ(runtime.figures().device_traffic.from_host, 800U) << "nobody changed the device side";
}

TEST(DualViews, TheDeviceSideIsMarkedWhenTheHostHasWritten) {
  Runtime cores(with_core("host:1"));
  auto const device = cores.device_view<double*>(0, "dual", 10);
  FakeDual dual{Vector("dual", 10), FakeDual::DeviceSide(device.view.data(), 10)};
  auto const data = dual_data(cores, dual);
  // The core or the device runs it: the side that it writes is valid afterwards, and the host side always.
  for (int i = 0; i < 20; ++i) {
    cores.submit("increase", Increase{}, read_write(data));
    cores.wait(data);
    EXPECT_EQ(dual.h_view(9), i + 1);
    EXPECT_FALSE(dual.need_sync_host());
    if (!dual.need_sync_device()) {
      EXPECT_EQ(dual.d_view(9), i + 1);
    }
  }
}

// A DualView on one of two emulated devices, to which bytes take their time, and tasks there alone.
class DualViewOnDevice : public testing::Test {
 protected:
  Runtime runtime{{.workers = 0U, .devices = "host:2", .link_bytes_per_second = 100'000, .models = models_off}};
  detail::DeviceView<double*, Kokkos::LayoutRight> device =
      runtime.device_view<double*, Kokkos::LayoutRight>(0, "dual", 10);
  FakeDual dual{Vector("dual", 10), FakeDual::DeviceSide(device.view.data(), 10)};

  DualViewOnDevice() { set(dual.d_view, 0); }
  template <class Side>
  static void set(Side const& side, double value) {
    for (std::size_t i = 0; i < 10; ++i) side(i) = value;
  }
};

TEST_F(DualViewOnDevice, AWaitWithoutATaskLeavesTheFlagsAlone) {
  auto const data = dual_data(runtime, dual);
  set(dual.d_view, 5);
  dual.modify_device();
  runtime.wait();
  runtime.wait(data);
  EXPECT_TRUE(dual.need_sync_host());
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait(data);
  EXPECT_EQ(dual.h_view(9), 6);
  set(dual.h_view, 1);
  dual.modify_host();
  runtime.wait(data);
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait();
  EXPECT_EQ(dual.h_view(9), 2);
}

// The value stays where the application has it, whatever its flags: no copy is under way when the datum is used.
TEST_F(DualViewOnDevice, RegistrationAloneMovesNothing) {
  set(dual.d_view, 3);
  dual.modify_device();
  for (int i = 0; i < 3; ++i) static_cast<void>(dual_data(runtime, dual));
  runtime.wait();
  EXPECT_EQ(dual.h_view(9), 0);
  EXPECT_TRUE(dual.need_sync_host());
  static_cast<void>(dual_data(runtime, dual));
  auto const data = dual_data(runtime, dual);
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait(data);
  EXPECT_EQ(dual.h_view(9), 4);
}

TEST_F(DualViewOnDevice, HintsSeeWhatTheApplicationHasChanged) {
  set(dual.d_view, 3);
  dual.modify_device();
  auto const data = dual_data(runtime, dual);
  runtime.will_not_use(data);
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait(data);
  EXPECT_EQ(dual.h_view(9), 4);
  for (double value = 1; value < 6; ++value) {
    set(dual.h_view, value);
    dual.modify_host();
    runtime.prefetch(data, Runtime::device_node(1));
    runtime.submit("increase", Increase{}, read_write(data));
    runtime.wait(data);
    EXPECT_EQ(dual.h_view(9), value + 1);
  }
}

TEST(DualViews, TheFlagsAreToldThoughNoHandleIsLeft) {
  Runtime runtime(with_core("host:1"));
  auto const device = runtime.device_view<double*>(0, "dual", 10);
  FakeDual dual{Vector("dual", 10), FakeDual::DeviceSide(device.view.data(), 10)};
  for (std::size_t i = 0; i < 10; ++i) dual.d_view(i) = 0;
  for (int round = 1; round <= 100; ++round) {
    runtime.submit("increase", Increase{}, read_write(dual_data(runtime, dual)));  // on the core or on the device
    runtime.wait();
    ASSERT_EQ(dual.h_view(9), round);
    ASSERT_TRUE(dual.need_sync_device() || dual.d_view(9) == round);
  }
}

TEST(DualViews, OfOneMemoryAreDataLikeTheirViews) {
  Kokkos::DualView<double*, detail::HostExecutionSpace> dual("dual", 10);
  Runtime runtime(with_core("none"));
  auto const data = dual_data(runtime, dual);
  runtime.submit("increase", Increase{}, read_write(data));
  runtime.wait(data);
  EXPECT_EQ(dual.h_view(9), 1);
}

TEST(DualViews, AreRefusedBesideTheirHostSideAlone) {
  Runtime runtime(devices_alone("host:1"));
  auto const device = runtime.device_view<double*>(0, "dual", 10);
  FakeDual const dual{Vector("dual", 10), FakeDual::DeviceSide(device.view.data(), 10)};
  auto const host_side = runtime.data(dual.h_view, "host side");
  EXPECT_EQ(message_of([&] { static_cast<void>(dual_data(runtime, dual)); }),
            "the host side of 'dual' is data 'host side' already, without its device side: destroy the handles on it "
            "first");
  Vector const elsewhere("elsewhere", 10);
  FakeDual const lost{Vector("lost", 10), FakeDual::DeviceSide(elsewhere.data(), 10)};
  EXPECT_EQ(message_of([&] { static_cast<void>(dual_data(runtime, lost)); }),
            "'lost' is in memory that neither the host nor a device can access");
  Runtime none(with_core("none"));
  EXPECT_EQ(message_of([&] { static_cast<void>(dual_data(none, dual)); }),
            "'dual' is in device memory, but this Runtime uses no devices (RuntimeOptions::devices)");
}

TEST(DualViews, AreRefusedBesidePartsOfThem) {
  Runtime runtime(devices_alone("host:1"));
  auto const device = runtime.device_view<double*>(0, "dual", 10);
  FakeDual const dual{Vector("dual", 10), FakeDual::DeviceSide(device.view.data(), 10)};
  {
    auto const part = runtime.data(Kokkos::subview(dual.h_view, std::pair(2, 5)), "part");
    EXPECT_EQ(
        message_of([&] { static_cast<void>(dual_data(runtime, dual)); }),
        "data 'dual' shares bytes with data 'part', and one of them has a further place, such as the device side of "
        "a DualView: destroy the handles on 'part' first");
  }
  auto const whole = dual_data(runtime, dual);
  EXPECT_EQ(message_of([&] { static_cast<void>(runtime.data(Kokkos::subview(dual.h_view, std::pair(2, 5)), "part")); }),
            "data 'part' shares bytes with data 'dual', and one of them has a further place, such as the device "
            "side of a DualView: destroy the handles on 'dual' first");
}

}  // namespace
}  // namespace granary::resident_test
