// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/model/codelet.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// What a vendor's runtime says of a device.
struct DeviceProperties {
  std::string name;          ///< "NVIDIA H200"
  std::string architecture;  ///< "sm_90", "gfx90a", "host"
  std::string bus;           ///< PCI address, or empty
  Bytes memory = 0;          ///< physical
  Bytes free = 0;            ///< at the time of asking
};

/// Bytes to be moved: `lines` runs of `line` bytes; a single run where `lines` is 1.
struct DeviceCopy {
  std::byte* destination = nullptr;
  std::byte const* source = nullptr;
  Bytes line = 0;
  std::uint64_t lines = 1;
  Bytes destination_pitch = 0;
  Bytes source_pitch = 0;
  enum class Direction : std::uint8_t { ToDevice, ToHost, Peer } direction = Direction::ToDevice;
  int source_device = -1;       ///< of Peer and ToHost
  int destination_device = -1;  ///< of Peer and ToDevice
};

/// Streams, events and memory of the devices that one vendor's runtime drives, or an emulation. No call waits for a
/// device unless it says so; each names its device, and none relies on the calling thread's current one. All may be
/// called from any thread, on one stream or event from one thread at a time. What fails throws DeviceError with the
/// runtime's own words and the numbers involved, DeviceLost when the device is gone.
class DeviceApi {
 public:
  /// A queue of operations on one device, which performs them in order.
  class Stream {
   public:
    virtual ~Stream() = default;  ///< waits for what was enqueued
    [[nodiscard]] virtual int device() const = 0;
    /// The execution-space instance of the stream: a DeviceExecutionSpace, or of an emulation a HostExecutionSpace.
    [[nodiscard]] virtual void const* instance() const = 0;
  };
  /// A mark in a stream.
  class Event {
   public:
    virtual ~Event() = default;
  };

  virtual ~DeviceApi() = default;
  /// "CUDA 13.0", "HIP 6.2", "emulated".
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual int devices() const = 0;
  [[nodiscard]] virtual DeviceProperties properties(int device) const = 0;
  /// Whether kernels are those of the codelets' host workers.
  [[nodiscard]] virtual bool emulated() const = 0;

  /// Device memory; waits. Aligned to 256 bytes at least.
  [[nodiscard]] virtual std::byte* allocate(int device, Bytes bytes) = 0;
  virtual void free(int device, std::byte* memory) noexcept = 0;
  /// Host memory that all devices copy from and to at full speed, and whose addresses kernels can use; waits.
  [[nodiscard]] virtual std::byte* allocate_pinned(Bytes bytes) = 0;
  virtual void free_pinned(std::byte* memory) noexcept = 0;
  /// Makes existing host memory so; false where the system refuses. Waits.
  [[nodiscard]] virtual bool pin(std::byte* memory, Bytes bytes) = 0;
  virtual void unpin(std::byte* memory) noexcept = 0;
  /// Whether host memory is so already, whoever made it so.
  [[nodiscard]] virtual bool is_pinned(std::byte const* memory, Bytes bytes) = 0;
  /// Lets `to` copy from and to the memory of `from` directly; false where the hardware cannot.
  [[nodiscard]] virtual bool connect(int from, int to) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(int device) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event(int device) = 0;
  virtual void record(Event& event, Stream& stream) = 0;
  /// Whether everything before the event's last record has been performed. Throws what became of it, once or more
  /// often, if it failed.
  [[nodiscard]] virtual bool done(Event& event) = 0;
  /// Between two events that are done.
  [[nodiscard]] virtual Duration elapsed(Event& first, Event& last) = 0;
  virtual void copy(Stream& stream, DeviceCopy const& copy) = 0;
  /// Sets `bytes` bytes of device or pinned memory to zero.
  virtual void clear(Stream& stream, std::byte* memory, Bytes bytes) = 0;
  /// Has the kernel enqueued on the stream: a vendor's runtime calls it at once, on this thread and with the stream's
  /// device current; an emulation performs it in the stream. What it throws is thrown here, or by `done` of the events
  /// that follow up to the next launch.
  virtual void launch(Stream& stream, Kernel kernel, KernelCall const& call) = 0;
  /// Calls the function on this thread with the device current, also when that is gone: what kernels keep of a vendor's
  /// libraries has to be given up so. An emulation just calls it.
  virtual void on_device(int device, std::function<void()> const& function) noexcept = 0;
};

/// The devices of the vendor that granary was built for; null where it was built for none. Throws nothing: a runtime
/// that cannot start has no devices, and `problem` says why.
[[nodiscard]] std::shared_ptr<DeviceApi> make_vendor_api(std::string* problem = nullptr);
/// "CUDA", "HIP", or empty: what granary was built for.
[[nodiscard]] char const* vendor_backend();

}  // namespace granary

#pragma GCC visibility pop
