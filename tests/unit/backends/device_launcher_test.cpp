// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_launcher.hpp>

#include <granary/detail/core/backends/emulated_api.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/model/lane_storage.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace granary {

using namespace detail;

namespace {

WorkerId const lane{1};

LaunchEnd wait_for(DeviceLauncher& launcher, WorkerId worker) {
  for (;;) {
    if (auto end = launcher.poll(worker)) return *end;
    std::this_thread::yield();
  }
}

struct Times {
  int count = 0;
};

// Uses everything that a lane has: counts its calls, and writes the count to the report.
void use_lane(KernelCall const& call) {
  auto& times = call.storage->get<Times>([] { return Times{}; });
  ++times.count;
  if (!call.workspace.empty()) std::memset(call.workspace.data(), 1, call.workspace.size());
  auto const& exec = *static_cast<HostExecutionSpace const*>(call.instance);
  int sum = 0;
  Kokkos::parallel_reduce(
      "sum", Kokkos::RangePolicy<HostExecutionSpace>(exec, 0, 10), KOKKOS_LAMBDA(int i, int& s) { s += i; }, sum);
  if (call.report->info != 0) throw InternalError("the report is not clear");
  call.report->info = times.count;
  call.report->value = sum + *static_cast<int const*>(call.parameters);
}

void fail(KernelCall const&) { throw DataError("no number"); }

void wait_until_open(KernelCall const& call) {
  auto const& open = *static_cast<std::atomic<bool> const*>(call.parameters);
  while (!open) std::this_thread::yield();
}

TEST(DeviceLauncher, KernelsHaveAllThatALaneHas) {
  DeviceLauncher launcher(make_emulated_api({.memory = 1_MiB}),
                          {.device_of = {-1, 0}, .workspace = 64_KiB, .most_launches = 2});
  ASSERT_EQ(launcher.kernel_of({.name = "use", .kernels = {&use_lane}}), &use_lane);
  launcher.enter(lane);
  EXPECT_FALSE(launcher.poll(lane));
  int const parameter = 100;
  for (int i = 0; i < 3; ++i) {
    launcher.launch(lane, &use_lane, {.data = {}, .parameters = &parameter, .worker = lane}, false);
    launcher.launch(lane, &use_lane, {.data = {}, .parameters = &parameter, .worker = lane}, false);
    for (int j = 1; j <= 2; ++j) {
      auto const end = wait_for(launcher, lane);
      EXPECT_FALSE(end.error);
      EXPECT_GT(end.duration.count(), 0);
      EXPECT_EQ(end.report->info, 2 * i + j);
      EXPECT_EQ(end.report->value, 145);
    }
  }
  EXPECT_FALSE(launcher.poll(lane));
  launcher.leave(lane);
}

TEST(DeviceLauncher, AKernelThatFailsFailsAlone) {
  DeviceLauncher launcher(make_emulated_api({}), {.device_of = {-1, 0}, .most_launches = 3});
  ASSERT_EQ(launcher.kernel_of({.name = "fail", .kernels = {&fail}, .launches_kokkos_kernels = false}), &fail);
  launcher.enter(lane);
  int const parameter = 0;
  for (int i = 0; i < 3; ++i) {
    launcher.launch(lane, &use_lane, {.data = {}, .parameters = &parameter, .worker = lane}, false);
    launcher.launch(lane, &fail, {.data = {}, .worker = lane}, false);
    launcher.launch(lane, &use_lane, {.data = {}, .parameters = &parameter, .worker = lane}, false);
    EXPECT_FALSE(wait_for(launcher, lane).error);
    auto const failed = wait_for(launcher, lane);
    ASSERT_TRUE(failed.error);
    EXPECT_THROW(std::rethrow_exception(failed.error), DataError);
    EXPECT_FALSE(wait_for(launcher, lane).error);
  }
}

TEST(DeviceLauncher, AnEmulatedDeviceSkipsWhatFollowsAFailure) {
  DeviceLauncher launcher(make_emulated_api({}), {.device_of = {-1, 0}, .most_launches = 4});
  launcher.enter(lane);
  int const parameter = 0;
  KernelCall const call{.data = {}, .parameters = &parameter, .worker = lane};
  for (int i = 0; i < 3; ++i) {
    launcher.launch(lane, &fail, call, false);
    launcher.launch(lane, &use_lane, call, true);
    launcher.launch(lane, &use_lane, call, true);
    launcher.launch(lane, &use_lane, call, false);
    EXPECT_TRUE(wait_for(launcher, lane).error);
    for (int skipped = 0; skipped < 2; ++skipped) {
      auto const end = wait_for(launcher, lane);
      EXPECT_FALSE(end.error);
      EXPECT_TRUE(end.skipped);
    }
    launcher.launch(lane, &use_lane, call, true);
    for (int ran = 1; ran <= 2; ++ran) {
      auto const end = wait_for(launcher, lane);
      EXPECT_FALSE(end.error || end.skipped);
      EXPECT_EQ(end.report->info, 2 * i + ran);
    }
  }
}

TEST(DeviceLauncher, ReportsLaunchesInOrderAndNoMoreThanAreUnderWay) {
  DeviceLauncher launcher(make_emulated_api({}), {.device_of = {-1, 0}, .most_launches = 2});
  launcher.enter(lane);
  std::atomic<bool> open = false;
  launcher.launch(lane, &wait_until_open, {.data = {}, .parameters = &open, .worker = lane}, false);
  launcher.launch(lane, &fail, {.data = {}, .worker = lane}, false);
  EXPECT_FALSE(launcher.poll(lane));
  EXPECT_THROW(launcher.launch(lane, &fail, {.data = {}, .worker = lane}, false), InternalError);
  open = true;
  EXPECT_FALSE(wait_for(launcher, lane).error);
  EXPECT_TRUE(wait_for(launcher, lane).error);
}

struct Inside {
  mutable std::atomic<int> now = 0;
  mutable std::atomic<int> most = 0;
};

void count_inside(KernelCall const& call) {
  auto const& inside = *static_cast<Inside const*>(call.parameters);
  int const here = ++inside.now;
  if (here > inside.most) inside.most = here;
  std::this_thread::yield();
  --inside.now;
}

// Each waits until the other has started.
void meet(KernelCall const& call) {
  auto const& inside = *static_cast<Inside const*>(call.parameters);
  ++inside.now;
  while (inside.now < 2) std::this_thread::yield();
}

TEST(DeviceLauncher, KernelsOfTwoLanesRunOneAtATimeWhereTheyMustAndConcurrentlyElsewhere) {
  DeviceLauncher launcher(make_emulated_api({}), {.device_of = {0, 0}, .most_launches = 4});
  auto const counting = launcher.kernel_of({.name = "count", .kernels = {&count_inside}});
  auto const meeting = launcher.kernel_of({.name = "meet", .kernels = {&meet}, .launches_kokkos_kernels = false});
  for (std::uint32_t w = 0; w < 2; ++w) launcher.enter(WorkerId(w));
  Inside counted;
  for (int i = 0; i < 100; ++i) {
    for (std::uint32_t w = 0; w < 2; ++w) {
      launcher.launch(WorkerId(w), counting, {.data = {}, .parameters = &counted, .worker = WorkerId(w)}, false);
    }
    for (std::uint32_t w = 0; w < 2; ++w) EXPECT_FALSE(wait_for(launcher, WorkerId(w)).error);
  }
  EXPECT_LE(counted.most, concurrent_host_kernels ? 2 : 1);
  Inside met;
  for (std::uint32_t w = 0; w < 2; ++w) {
    launcher.launch(WorkerId(w), meeting, {.data = {}, .parameters = &met, .worker = WorkerId(w)}, false);
  }
  for (std::uint32_t w = 0; w < 2; ++w) EXPECT_FALSE(wait_for(launcher, WorkerId(w)).error);
}

struct KeptUntil {
  explicit KeptUntil(std::atomic<bool>* flag) : gone(flag) {}
  KeptUntil(KeptUntil&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
  ~KeptUntil() {
    if (gone != nullptr) *gone = true;
  }
  std::atomic<bool>* gone;
};

void keep(KernelCall const& call) {
  auto* const flag = const_cast<std::atomic<bool>*>(static_cast<std::atomic<bool> const*>(call.parameters));
  call.storage->get<KeptUntil>([&] { return KeptUntil(flag); });
}

TEST(DeviceLauncher, ALaneThatEndsGivesBackWhatItHad) {
  auto const api = make_emulated_api({.memory = 1_MiB});
  DeviceLauncher launcher(api, {.device_of = {-1, 0}, .workspace = 1_MiB});
  for (int i = 0; i < 2; ++i) {
    launcher.enter(lane);
    EXPECT_EQ(api->properties(0).free, 0u);
    std::atomic<bool> gone = false;
    launcher.launch(lane, &keep, {.data = {}, .parameters = &gone, .worker = lane}, false);
    EXPECT_FALSE(wait_for(launcher, lane).error);
    EXPECT_FALSE(gone);
    launcher.leave(lane);
    EXPECT_TRUE(gone);
    EXPECT_EQ(api->properties(0).free, 1_MiB);
  }
}

TEST(DeviceLauncher, ALaneWhoseWorkspaceDoesNotFitIsRefused) {
  DeviceLauncher launcher(make_emulated_api({.memory = 1_MiB}), {.device_of = {-1, 0}, .workspace = 2_MiB});
  EXPECT_THROW(launcher.enter(lane), DeviceError);
  EXPECT_THROW(launcher.enter(WorkerId(0)), InternalError);
  EXPECT_THROW(launcher.launch(lane, &fail, {.data = {}, .worker = lane}, false), InternalError);
}

TEST(DeviceLauncher, ADeviceThatIsGoneFailsEveryLaunch) {
  auto const api = make_emulated_api({.memory = 1_MiB, .link_latency = {}, .before = [](EmulatedOperation const& op) {
                                        if (op.step == EmulatedStep::Launch && op.number == 1) {
                                          throw DeviceLost("unplugged");
                                        }
                                      }});
  DeviceLauncher launcher(api, {.device_of = {-1, 0}});
  launcher.enter(lane);
  int const parameter = 0;
  for (int i = 0; i < 4; ++i) {
    launcher.launch(lane, &use_lane, {.data = {}, .parameters = &parameter, .worker = lane}, false);
  }
  // The first may have ended before the device was lost, or not.
  auto const first = wait_for(launcher, lane);
  for (int i = 1; i < 4; ++i) {
    auto const end = wait_for(launcher, lane);
    ASSERT_TRUE(end.error);
    EXPECT_THROW(std::rethrow_exception(end.error), DeviceLost);
  }
  launcher.leave(lane);
}

TEST(DeviceLauncher, RefusesWhatCannotBe) {
  auto const api = make_emulated_api({});
  EXPECT_THROW(DeviceLauncher(api, {.device_of = {0, 1}}), InvalidArgument);
  EXPECT_THROW(DeviceLauncher(api, {.device_of = {-2}}), InvalidArgument);
  EXPECT_THROW(DeviceLauncher(api, {.device_of = {0}, .most_launches = 0}), InvalidArgument);
  EXPECT_EQ(DeviceLauncher(api, {}).kernel_of({.name = "none", .kernels = {}}), nullptr);
}

}  // namespace
}  // namespace granary
