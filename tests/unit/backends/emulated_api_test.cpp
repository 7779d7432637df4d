// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/emulated_api.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace granary {

using namespace detail;

namespace {

void wait_for(DeviceApi& api, DeviceApi::Event& event) {
  while (!api.done(event)) std::this_thread::yield();
}

struct Steps {
  mutable std::atomic<bool> open = true;  // whether kernels may continue
  mutable std::vector<int> seen;
};
struct Step {
  Steps const* steps = nullptr;
  int number = 0;
};

void take_step(KernelCall const& call) {
  auto const& step = *static_cast<Step const*>(call.parameters);
  while (!step.steps->open) std::this_thread::yield();
  if (step.number < 0) throw DataError("step " + std::to_string(step.number));
  step.steps->seen.push_back(step.number);
}

KernelCall call_of(Step const& step) { return {.data = {}, .parameters = &step, .worker = WorkerId(0)}; }

TEST(EmulatedApi, AStreamPerformsItsOperationsInOrder) {
  auto const api = make_emulated_api({});
  auto const stream = api->make_stream(0);
  auto const before = api->make_event(0), after = api->make_event(0);
  Steps steps;
  steps.open = false;
  std::array<Step, 3> const given{{{&steps, 1}, {&steps, 2}, {&steps, 3}}};
  EXPECT_TRUE(api->done(*before));
  api->record(*before, *stream);
  for (auto const& step : given) api->launch(*stream, &take_step, call_of(step));
  api->record(*after, *stream);
  EXPECT_FALSE(api->done(*after));
  EXPECT_THROW((void)api->elapsed(*before, *after), DeviceError);
  steps.open = true;
  wait_for(*api, *after);
  EXPECT_EQ(steps.seen, (std::vector<int>{1, 2, 3}));
  EXPECT_GE(api->elapsed(*before, *after).count(), 0);
}

TEST(EmulatedApi, AStreamThatEndsPerformsWhatWasEnqueued) {
  auto const api = make_emulated_api({});
  Steps steps;
  Step const step{&steps, 5};
  {
    auto const stream = api->make_stream(0);
    for (int i = 0; i < 10; ++i) api->launch(*stream, &take_step, call_of(step));
  }
  EXPECT_EQ(steps.seen.size(), 10u);
}

TEST(EmulatedApi, AKernelThatFailsIsReportedUpToTheNextLaunch) {
  auto const api = make_emulated_api({});
  auto const stream = api->make_stream(0);
  std::array<std::unique_ptr<DeviceApi::Event>, 4> events;
  for (auto& event : events) event = api->make_event(0);
  Steps steps;
  Step const good{&steps, 1}, bad{&steps, -1};
  api->record(*events[0], *stream);
  api->launch(*stream, &take_step, call_of(bad));
  api->record(*events[1], *stream);
  api->record(*events[2], *stream);
  api->launch(*stream, &take_step, call_of(good));
  api->record(*events[3], *stream);
  wait_for(*api, *events[3]);
  EXPECT_TRUE(api->done(*events[0]));
  EXPECT_THROW((void)api->done(*events[1]), DataError);
  EXPECT_THROW((void)api->done(*events[1]), DataError);
  EXPECT_THROW((void)api->done(*events[2]), DataError);
}

TEST(EmulatedApi, ThrottledCopiesTakeAtLeastTheirTime) {
  auto const api = make_emulated_api({.memory = 1_MiB, .link_bytes_per_second = 100'000'000, .link_latency = {}});
  auto const stream = api->make_stream(0);
  auto const begin = api->make_event(0), end = api->make_event(0);
  auto* const memory = api->allocate(0, 100'000);
  std::vector<std::byte> value(100'000, std::byte{9});
  api->record(*begin, *stream);
  auto const start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    api->copy(*stream, {.destination = memory,
                        .source = value.data(),
                        .line = value.size(),
                        .direction = DeviceCopy::Direction::ToDevice,
                        .destination_device = 0});
  }
  api->record(*end, *stream);
  wait_for(*api, *end);
  // Counts from the request of the first copy: `begin` may have been performed later.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  EXPECT_GE(api->elapsed(*begin, *end), Duration(0));
  EXPECT_TRUE(std::equal(value.begin(), value.end(), memory));
  api->clear(*stream, memory, 10);
  api->record(*end, *stream);
  wait_for(*api, *end);
  EXPECT_EQ(memory[9], std::byte{0});
  EXPECT_EQ(memory[10], std::byte{9});
  api->free(0, memory);
}

TEST(EmulatedApi, ACopyBeyondTheDevicesMemoryIsRefused) {
  auto const api = make_emulated_api({.devices = 2, .memory = 1_MiB});
  std::vector<std::byte> value(2000);
  auto const stream = api->make_stream(0);
  auto* const memory = api->allocate(0, 1000);
  DeviceCopy copy{.destination = memory,
                  .source = value.data(),
                  .line = 1001,
                  .direction = DeviceCopy::Direction::ToDevice,
                  .destination_device = 0};
  EXPECT_THROW(api->copy(*stream, copy), DeviceError);
  copy.line = 100;
  copy.lines = 10;
  copy.source_pitch = 110;
  copy.destination_pitch = 101;
  EXPECT_THROW(api->copy(*stream, copy), DeviceError);
  copy.destination_pitch = 99;
  EXPECT_THROW(api->copy(*stream, copy), DeviceError);
  copy.destination_pitch = 100;
  copy.destination_device = 1;
  EXPECT_THROW(api->copy(*stream, copy), DeviceError);
  copy.destination_device = 0;
  EXPECT_NO_THROW(api->copy(*stream, copy));
}

TEST(EmulatedApi, OperationsAreCountedByDeviceAndKind) {
  std::vector<std::uint64_t> launches, copies, allocations;
  auto const api = make_emulated_api(
      {.devices = 2, .memory = 1_MiB, .link_latency = {}, .before = [&](EmulatedOperation const& operation) {
         if (operation.device == 0) return;
         auto& of = operation.step == EmulatedStep::Copy     ? copies
                    : operation.step == EmulatedStep::Launch ? launches
                                                             : allocations;
         of.push_back(operation.number);
       }});
  Steps steps;
  Step const step{&steps, 1};
  for (int d = 0; d < 2; ++d) {
    auto* const memory = api->allocate(d, 64);
    std::vector<std::byte> value(64);
    auto const stream = api->make_stream(d);
    for (int i = 0; i < 2; ++i) {
      api->copy(*stream, {.destination = value.data(),
                          .source = memory,
                          .line = 64,
                          .direction = DeviceCopy::Direction::ToHost,
                          .source_device = d});
      api->launch(*stream, &take_step, call_of(step));
    }
  }
  EXPECT_EQ(allocations, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(copies, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(launches, (std::vector<std::uint64_t>{0, 1}));
}

TEST(EmulatedApi, ADeviceThatIsGoneFailsAllOfIt) {
  auto const api = make_emulated_api(
      {.devices = 2, .memory = 1_MiB, .link_latency = {}, .before = [](EmulatedOperation const& operation) {
         if (operation.step == EmulatedStep::Launch) throw DeviceLost("unplugged");
       }});
  auto const stream = api->make_stream(0);
  auto const event = api->make_event(0), later = api->make_event(0);
  Steps steps;
  Step const step{&steps, 1};
  api->launch(*stream, &take_step, call_of(step));
  api->record(*event, *stream);
  EXPECT_THROW(wait_for(*api, *event), DeviceLost);
  EXPECT_THROW(api->launch(*stream, &take_step, call_of(step)), DeviceLost);
  EXPECT_THROW((void)api->allocate(0, 10), DeviceLost);
  EXPECT_THROW((void)api->make_stream(0), DeviceLost);
  EXPECT_THROW((void)api->connect(1, 0), DeviceLost);
  api->record(*later, *stream);
  EXPECT_THROW(wait_for(*api, *later), DeviceLost);
  EXPECT_NO_THROW((void)api->make_stream(1));
  EXPECT_TRUE(steps.seen.empty());
}

TEST(EmulatedApi, SaysWhatItIs) {
  auto const api = make_emulated_api({.devices = 3, .memory = 1_MiB, .link_latency = {}, .peers = false});
  EXPECT_EQ(api->name(), "emulated");
  EXPECT_TRUE(api->emulated());
  EXPECT_EQ(api->devices(), 3);
  EXPECT_EQ(api->properties(2).architecture, "host");
  EXPECT_EQ(api->properties(2).memory, 1_MiB);
  EXPECT_FALSE(api->connect(0, 1));
  EXPECT_THROW((void)api->properties(3), InvalidArgument);
  EXPECT_THROW((void)api->allocate(-1, 1), InvalidArgument);
  EXPECT_THROW((void)make_emulated_api({.devices = 0}), InvalidArgument);
}

}  // namespace
}  // namespace granary
