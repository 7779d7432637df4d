// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contract of every DeviceApi. A test instantiates DeviceApiContract with a factory of one.
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace granary::test {

using namespace detail;

using MakeDeviceApi = std::shared_ptr<DeviceApi> (*)();

template <class Space>
struct AddTo {
  double* values;
  double what;
  KOKKOS_FUNCTION void operator()(int i) const { values[i] += what; }

  // Adds the parameter to 8 doubles, and reports.
  static void kernel(KernelCall const& call) {
    auto const& space = *static_cast<Space const*>(call.instance);
    auto* const values = reinterpret_cast<double*>(call.data[0]);
    auto const what = *static_cast<double const*>(call.parameters);
    Kokkos::parallel_for("add to", Kokkos::RangePolicy<Space>(space, 0, 8), AddTo{values, what});
    if (call.report != nullptr) {
      auto* const report = call.report;
      Kokkos::parallel_for("report", Kokkos::RangePolicy<Space>(space, 0, 1), Report{report});
    }
  }
  struct Report {
    KernelReport* report;
    KOKKOS_FUNCTION void operator()(int) const { report->info = 7; }
  };
};

class DeviceApiContract : public testing::TestWithParam<MakeDeviceApi> {
 protected:
  void SetUp() override {
    m_api = GetParam()();
    if (!m_api || m_api->devices() == 0) GTEST_SKIP() << "there is no device";
  }
  [[nodiscard]] int last() const { return m_api->devices() - 1; }
  [[nodiscard]] Kernel add_to() const {
    return m_api->emulated() ? AddTo<HostExecutionSpace>::kernel : AddTo<DeviceExecutionSpace>::kernel;
  }
  // Waits for the enqueued operations.
  void finish(DeviceApi::Stream& stream) const {
    auto const event = m_api->make_event(stream.device());
    m_api->record(*event, stream);
    while (!m_api->done(*event)) std::this_thread::yield();
  }
  struct Memory {
    std::shared_ptr<DeviceApi> api;
    int device;  // -1: pinned
    std::byte* data;

    Memory(std::shared_ptr<DeviceApi> of, int on, Bytes bytes)
        : api(std::move(of)), device(on), data(on < 0 ? api->allocate_pinned(bytes) : api->allocate(on, bytes)) {}
    ~Memory() { device < 0 ? api->free_pinned(data) : api->free(device, data); }
    Memory(Memory const&) = delete;
    Memory& operator=(Memory const&) = delete;
  };
  static std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i * 37 + 11);
    return values;
  }

  std::shared_ptr<DeviceApi> m_api;
};

TEST_P(DeviceApiContract, SaysWhatItsDevicesAre) {
  EXPECT_FALSE(m_api->name().empty());
  for (int d = 0; d < m_api->devices(); ++d) {
    auto const properties = m_api->properties(d);
    EXPECT_FALSE(properties.name.empty());
    EXPECT_FALSE(properties.architecture.empty());
    EXPECT_GT(properties.memory, 0U);
    EXPECT_LE(properties.free, properties.memory);
  }
  EXPECT_THROW(static_cast<void>(m_api->properties(m_api->devices())), Error);
}

TEST_P(DeviceApiContract, BytesGoThereAndComeBack) {
  constexpr Bytes bytes = 3'000'001;
  for (int d = 0; d < m_api->devices(); ++d) {
    Memory const device(m_api, d, bytes), out(m_api, -1, bytes), in(m_api, -1, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device.data) % 256, 0U);
    auto const values = pattern(bytes);
    std::memcpy(out.data, values.data(), bytes);
    auto const stream = m_api->make_stream(d);
    m_api->clear(*stream, device.data, bytes);
    m_api->clear(*stream, in.data, bytes);
    m_api->copy(*stream, {.destination = device.data, .source = out.data, .line = bytes, .destination_device = d});
    m_api->copy(*stream, {.destination = in.data,
                          .source = device.data,
                          .line = bytes,
                          .direction = DeviceCopy::Direction::ToHost,
                          .source_device = d});
    finish(*stream);
    EXPECT_EQ(std::memcmp(in.data, values.data(), bytes), 0);
  }
}

TEST_P(DeviceApiContract, MarksFollowTheWorkOfAnInstance) {
  Memory const device(m_api, last(), 64), out(m_api, -1, 64);
  auto const stream = m_api->make_stream(last());
  m_api->clear(*stream, device.data, 64);
  finish(*stream);
  double const by = 3;
  std::array<std::byte*, 1> const data{device.data};
  KernelCall call;
  call.data = data;
  call.parameters = &by;
  call.instance = stream->instance();
  add_to()(call);  // as an application launches kernels
  auto const event = m_api->mark(stream->instance());
  while (!m_api->done(*event)) std::this_thread::yield();
  auto const other = m_api->make_stream(last());
  m_api->copy(*other, {.destination = out.data,
                       .source = device.data,
                       .line = 64,
                       .direction = DeviceCopy::Direction::ToHost,
                       .source_device = last()});
  finish(*other);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(reinterpret_cast<double const*>(out.data)[i], 3);
}

TEST_P(DeviceApiContract, LinesArePackedAndUnpacked) {
  constexpr Bytes line = 24, lines = 100, pitch = 40;
  Memory const device(m_api, last(), line * lines), host(m_api, -1, pitch * lines);
  auto const values = pattern(pitch * lines);
  std::memcpy(host.data, values.data(), values.size());
  auto const stream = m_api->make_stream(last());
  m_api->copy(*stream, {.destination = device.data,
                        .source = host.data,
                        .line = line,
                        .lines = lines,
                        .destination_pitch = line,
                        .source_pitch = pitch,
                        .destination_device = last()});
  finish(*stream);
  std::memset(host.data, 0, pitch * lines);
  m_api->copy(*stream, {.destination = host.data,
                        .source = device.data,
                        .line = line,
                        .lines = lines,
                        .destination_pitch = pitch,
                        .source_pitch = line,
                        .direction = DeviceCopy::Direction::ToHost,
                        .source_device = last()});
  finish(*stream);
  for (Bytes i = 0; i < pitch * lines; ++i) {
    ASSERT_EQ(host.data[i], i % pitch < line ? values[i] : std::byte{0}) << "byte " << i;
  }
}

TEST_P(DeviceApiContract, WhatIsOnOneStreamHappensInOrder) {
  constexpr Bytes bytes = 8 * sizeof(double);
  Memory const device(m_api, last(), bytes), host(m_api, -1, bytes), reports(m_api, -1, sizeof(KernelReport));
  auto const stream = m_api->make_stream(last());
  m_api->clear(*stream, device.data, bytes);
  m_api->clear(*stream, reports.data, sizeof(KernelReport));
  auto const first = m_api->make_event(last()), end = m_api->make_event(last());
  double const what = 0.5;
  std::byte* const data[] = {device.data};
  KernelCall call;
  call.data = data;
  call.parameters = &what;
  call.instance = stream->instance();
  call.report = reinterpret_cast<KernelReport*>(reports.data);
  m_api->record(*first, *stream);
  for (int i = 0; i < 100; ++i) m_api->launch(*stream, add_to(), call);
  m_api->record(*end, *stream);
  m_api->copy(*stream, {.destination = host.data,
                        .source = device.data,
                        .line = bytes,
                        .direction = DeviceCopy::Direction::ToHost,
                        .source_device = last()});
  finish(*stream);
  ASSERT_TRUE(m_api->done(*first) && m_api->done(*end));
  EXPECT_GE(m_api->elapsed(*first, *end), Duration(0));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(reinterpret_cast<double*>(host.data)[i], 50);
  EXPECT_EQ(call.report->info, 7);
}

TEST_P(DeviceApiContract, ManyThreadsHaveStreamsOfTheirOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      int const d = t % m_api->devices();
      constexpr Bytes bytes = 100'000;
      Memory const device(m_api, d, bytes), host(m_api, -1, bytes);
      auto const stream = m_api->make_stream(d);
      for (int i = 0; i < 20; ++i) {
        std::memset(host.data, t + i, bytes);
        m_api->copy(*stream, {.destination = device.data, .source = host.data, .line = bytes, .destination_device = d});
        finish(*stream);
        std::memset(host.data, 0, bytes);
        m_api->copy(*stream, {.destination = host.data,
                              .source = device.data,
                              .line = bytes,
                              .direction = DeviceCopy::Direction::ToHost,
                              .source_device = d});
        finish(*stream);
        EXPECT_EQ(host.data[bytes - 1], static_cast<std::byte>(t + i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(DeviceApiContract, ConnectedDevicesCopyFromEachOther) {
  if (m_api->devices() < 2) GTEST_SKIP() << "there is one device";
  if (!m_api->connect(0, 1)) GTEST_SKIP() << "devices 0 and 1 are no peers";
  constexpr Bytes bytes = 100'001;
  Memory const one(m_api, 0, bytes), other(m_api, 1, bytes), host(m_api, -1, bytes);
  auto const values = pattern(bytes);
  std::memcpy(host.data, values.data(), bytes);
  auto const there = m_api->make_stream(0);
  m_api->copy(*there, {.destination = one.data, .source = host.data, .line = bytes, .destination_device = 0});
  finish(*there);
  std::memset(host.data, 0, bytes);
  auto const across = m_api->make_stream(1);
  m_api->copy(*across, {.destination = other.data,
                        .source = one.data,
                        .line = bytes,
                        .direction = DeviceCopy::Direction::Peer,
                        .source_device = 0,
                        .destination_device = 1});
  m_api->copy(*across, {.destination = host.data,
                        .source = other.data,
                        .line = bytes,
                        .direction = DeviceCopy::Direction::ToHost,
                        .source_device = 1});
  finish(*across);
  EXPECT_EQ(std::memcmp(host.data, values.data(), bytes), 0);
}

TEST_P(DeviceApiContract, HostMemoryIsPinnedAndGivenBack) {
  std::vector<std::byte> memory(1 << 20);
  if (m_api->pin(memory.data(), memory.size())) m_api->unpin(memory.data());
  EXPECT_EQ(memory[0], std::byte{0});
}

TEST_P(DeviceApiContract, RefusesWhatCannotBe) {
  EXPECT_THROW(static_cast<void>(m_api->allocate(last(), Bytes{1} << 60)), DeviceError);
  EXPECT_THROW(static_cast<void>(m_api->make_stream(m_api->devices())), Error);
  EXPECT_THROW(static_cast<void>(m_api->make_stream(-1)), Error);
  // A refusal does not change the device.
  Memory const memory(m_api, last(), 256);
  EXPECT_NE(memory.data, nullptr);
}

}  // namespace granary::test
