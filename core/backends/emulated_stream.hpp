// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the emulation of devices; only its sources include it.
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/emulated_options.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/engine/pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace granary::detail {

using SteadyClock = std::chrono::steady_clock;

/// By first byte.
using Allocations = std::map<std::byte const*, std::unique_ptr<Pool>>;
[[nodiscard]] bool lies_in_one(Allocations const& allocations, std::byte const* memory, Bytes bytes);

/// A device: its memory, and whether it was lost. Thread-safe.
class EmulatedDevice {
 public:
  EmulatedDevice(int number, EmulatedOptions const& options) : m_number(number), m_options(options) {}

  [[nodiscard]] std::byte* allocate(Bytes bytes);
  void free(std::byte* memory) noexcept;
  [[nodiscard]] Bytes free_bytes() const;
  /// True if the range lies in one allocation.
  [[nodiscard]] bool holds(std::byte const* memory, Bytes bytes) const;

  /// Counts an operation and calls EmulatedOptions::before; throws its exception, or DeviceLost if the device is lost.
  void begin(EmulatedStep step);
  /// Throws DeviceLost when the device is lost.
  void check_present() const;
  void lose(DeviceLost const& reason);

 private:
  int m_number;
  EmulatedOptions const& m_options;
  std::array<std::atomic<std::uint64_t>, 3> m_begun{};  // by step
  std::atomic<bool> m_lost = false;
  mutable std::mutex m_mutex;
  std::string m_reason;
  Allocations m_allocations;
  Bytes m_used = 0;
};

/// Shared by the devices of one emulation; streams keep it alive.
struct EmulatedDevices {
  explicit EmulatedDevices(EmulatedOptions given);

  EmulatedOptions options;
  std::deque<EmulatedDevice> devices;
};

/// One record of an event.
struct EmulatedMark {
  std::atomic<bool> performed = false;
  SteadyClock::time_point instant;  // these two are set when the mark is performed
  std::exception_ptr error;
};

class EmulatedEvent final : public DeviceApi::Event {
 public:
  std::shared_ptr<EmulatedMark> mark;  // of the last record
};

/// A thread that performs operations in order; it starts with the first operation.
class EmulatedStream final : public DeviceApi::Stream {
 public:
  EmulatedStream(std::shared_ptr<EmulatedDevices> devices, int device);
  ~EmulatedStream() override;
  EmulatedStream(EmulatedStream const&) = delete;
  EmulatedStream& operator=(EmulatedStream const&) = delete;

  [[nodiscard]] int device() const override { return m_device; }
  [[nodiscard]] void const* instance() const override;

  void copy(DeviceCopy const& copy);
  void clear(std::byte* memory, Bytes bytes);
  void launch(Kernel kernel, KernelCall const& call);
  void record(std::shared_ptr<EmulatedMark> mark);

 private:
  struct Operation {
    SteadyClock::time_point enqueued;
    std::function<void(SteadyClock::time_point enqueued)> perform;
  };
  void enqueue(std::function<void(SteadyClock::time_point)> perform);
  void run();
  [[nodiscard]] EmulatedDevice& self() const { return m_devices->devices[static_cast<std::size_t>(m_device)]; }
  void perform_copy(DeviceCopy const& copy, SteadyClock::time_point enqueued);
  void perform_launch(Kernel kernel, KernelCall const& call);
  void perform_record(EmulatedMark& mark);

  std::shared_ptr<EmulatedDevices> m_devices;
  int m_device;
  mutable std::optional<HostExecutionSpace> m_instance;  // made when it is first asked for

  // Used by the stream's thread: the errors of the last launch and the last copy, and when the link is free again.
  std::exception_ptr m_launch_error, m_copy_error;
  SteadyClock::time_point m_free_at{};

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Operation> m_operations;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace granary::detail
