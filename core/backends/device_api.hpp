// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace granary::detail {

/// Stands for the host where a device number is expected.
inline constexpr int host_end = -1;

/// The properties of a device, as the vendor's runtime reports them.
struct GRANARY_EXPORT DeviceProperties {
  std::string name;          ///< "NVIDIA H200"
  std::string architecture;  ///< "sm_90", "gfx90a", "host"
  std::string bus;           ///< PCI address, or empty
  Bytes memory = 0;          ///< physical
  Bytes free = 0;            ///< when queried
};

/// Bytes to be moved: `lines` runs of `line` bytes; a single run where `lines` is 1.
struct GRANARY_EXPORT DeviceCopy {
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

/// Streams, events and memory of the devices of one vendor's runtime, or of an emulation. No call waits for a device
/// unless its comment says so. Each call names its device; none depends on the calling thread's current device. Any
/// thread may call any function, but only one thread at a time may use a stream or an event. Failures throw DeviceError
/// with the runtime's message and the numbers involved, or DeviceLost when the device is lost.
class GRANARY_EXPORT DeviceApi {
 public:
  /// A queue of operations on one device, which performs them in order.
  class Stream {
   public:
    virtual ~Stream() = default;  ///< waits for the enqueued operations
    [[nodiscard]] virtual int device() const = 0;
    /// The execution-space instance of the stream: a DeviceExecutionSpace, or a HostExecutionSpace if emulated.
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
  /// True if the devices run the codelets' host kernels.
  [[nodiscard]] virtual bool emulated() const = 0;

  /// Allocates device memory, aligned to at least 256 bytes; waits.
  [[nodiscard]] virtual std::byte* allocate(int device, Bytes bytes) = 0;
  virtual void free(int device, std::byte* memory) noexcept = 0;
  /// Allocates host memory that all devices copy from and to at full speed and that kernels can access; waits.
  [[nodiscard]] virtual std::byte* allocate_pinned(Bytes bytes) = 0;
  virtual void free_pinned(std::byte* memory) noexcept = 0;
  /// Pins existing host memory; false if the system refuses. Waits.
  [[nodiscard]] virtual bool pin(std::byte* memory, Bytes bytes) = 0;
  virtual void unpin(std::byte* memory) noexcept = 0;
  /// True if host memory is pinned already, by any caller.
  [[nodiscard]] virtual bool is_pinned(std::byte const* memory, Bytes bytes) = 0;
  /// The device in whose memory the bytes lie, allocated by any caller; host_end if in none's.
  [[nodiscard]] virtual int holder_of(std::byte const* memory, Bytes bytes) = 0;
  /// Lets `to` access the memory of `from` directly; false if the hardware cannot.
  [[nodiscard]] virtual bool connect(int from, int to) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(int device) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event(int device) = 0;
  virtual void record(Event& event, Stream& stream) = 0;
  /// An event behind all work that the caller's execution-space instance was given so far: a DeviceExecutionSpace. An
  /// emulation's is a HostExecutionSpace, whose work has ended.
  [[nodiscard]] virtual std::unique_ptr<Event> mark(void const* instance) = 0;
  /// True if all operations before the event's last record have completed. Throws if one of them failed, at least once.
  [[nodiscard]] virtual bool done(Event& event) = 0;
  /// The time between two completed events.
  [[nodiscard]] virtual Duration elapsed(Event& first, Event& last) = 0;
  virtual void copy(Stream& stream, DeviceCopy const& copy) = 0;
  /// Sets `bytes` bytes of device or pinned memory to zero.
  virtual void clear(Stream& stream, std::byte* memory, Bytes bytes) = 0;
  /// Enqueues the kernel on the stream. A vendor's runtime calls it at once, on this thread and with the stream's
  /// device current; an emulation calls it in the stream. Its exceptions are thrown here, or by `done` of the events
  /// recorded before the next launch.
  virtual void launch(Stream& stream, Kernel kernel, KernelCall const& call) = 0;
  /// Calls the function on this thread with the device current, even if the device is lost: kernels' handles of vendor
  /// libraries must be destroyed this way. An emulation just calls it.
  virtual void on_device(int device, std::function<void()> const& function) noexcept = 0;
};

/// The devices of the vendor that granary was built for; null if it was built for none. Does not throw: a runtime that
/// cannot start has no devices, and `problem` holds the reason.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<DeviceApi> make_vendor_api(std::string* problem = nullptr);
/// "CUDA", "HIP", or empty: what granary was built for.
[[nodiscard]] GRANARY_EXPORT char const* vendor_backend();

}  // namespace granary::detail
