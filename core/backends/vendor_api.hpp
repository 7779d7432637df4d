// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace granary::detail {

/// A DeviceApi for one vendor's runtime. `Runtime` wraps the runtime's functions, which are alike for all vendors. It
/// has the types Status, Stream, Event and Instance (of Kokkos), the vendor's functions with a Status as result, and
/// the other members of Runtime in vendor_interop.cpp.
///
/// Every call makes its device the thread's current one and restores the previous one: Kokkos sets the current device
/// and leaves it set, and the callers of granary have one, too. Streams do not wait for the default stream.
template <class Runtime>
class GRANARY_EXPORT VendorApi final : public DeviceApi {
 public:
  /// If the runtime does not start, there are no devices, and `problem` holds the reason.
  explicit VendorApi(std::string* problem = nullptr) {
    auto const status = Runtime::device_count(&m_devices);
    if (status == Runtime::success) return;
    m_devices = 0;
    static_cast<void>(Runtime::last_error());
    if (problem != nullptr) *problem = sentence(status, "looking for devices");
  }

  [[nodiscard]] std::string name() const override {
    int version = 0;
    bool const known = Runtime::version(&version) == Runtime::success;
    return known ? Runtime::label + (" " + Runtime::version_text(version)) : Runtime::label;
  }
  [[nodiscard]] int devices() const override { return m_devices; }
  [[nodiscard]] bool emulated() const override { return false; }

  [[nodiscard]] DeviceProperties properties(int device) const override {
    Current const current(*this, device);
    DeviceProperties properties;
    check(Runtime::describe(device, properties), "querying the properties of", device);
    properties.free = free_memory(device).first;
    return properties;
  }

  [[nodiscard]] std::byte* allocate(int device, Bytes bytes) override {
    Current const current(*this, device);
    void* memory = nullptr;
    auto const status = Runtime::allocate(&memory, bytes);
    if (status != Runtime::success) {
      static_cast<void>(Runtime::last_error());
      auto const [free, total] = Runtime::is_lost(status) ? std::pair<Bytes, Bytes>{} : free_memory(device);
      fail(status, "allocating " + format_bytes(bytes) + " on " + device_name(device) + ", which has " +
                       format_bytes(free) + " of its " + format_bytes(total) + " free");
    }
    return static_cast<std::byte*>(memory);
  }
  void free(int device, std::byte* memory) noexcept override {
    Quietly const current(device);
    static_cast<void>(Runtime::free(memory));
  }

  [[nodiscard]] std::byte* allocate_pinned(Bytes bytes) override {
    Somewhere const current(*this);
    void* memory = nullptr;
    auto const status = Runtime::allocate_pinned(&memory, bytes);
    if (status != Runtime::success) fail(status, "allocating " + format_bytes(bytes) + " of pinned host memory");
    return static_cast<std::byte*>(memory);
  }
  void free_pinned(std::byte* memory) noexcept override {
    Somewhere const current(*this);
    static_cast<void>(Runtime::free_pinned(memory));
  }
  [[nodiscard]] bool pin(std::byte* memory, Bytes bytes) override {
    Somewhere const current(*this);
    return accepted(Runtime::pin(memory, bytes), "pinning " + format_bytes(bytes) + " of host memory");
  }
  void unpin(std::byte* memory) noexcept override {
    Somewhere const current(*this);
    static_cast<void>(Runtime::unpin(memory));
    static_cast<void>(Runtime::last_error());
  }
  // The ends are not enough: they may share pages with memory pinned next to them. Samples are, since pinned ranges are
  // long.
  [[nodiscard]] bool is_pinned(std::byte const* memory, Bytes bytes) override {
    constexpr Bytes page = 4096;
    constexpr Bytes samples = 4096;
    Somewhere const current(*this);
    for (Bytes at = 0; at < bytes; at += std::max(page, bytes / samples)) {
      if (!Runtime::is_pinned(memory + at)) return false;
    }
    return bytes > 0 && Runtime::is_pinned(memory + bytes - 1);
  }

  [[nodiscard]] int holder_of(std::byte const* memory, Bytes) override {
    Somewhere const current(*this);
    return Runtime::holder_of(memory);
  }

  [[nodiscard]] bool connect(int from, int to) override {
    if (from == to) return true;
    Current const current(*this, to);
    int can = 0;
    check(Runtime::can_access_peer(&can, to, from), "querying the peers of", to);
    if (can == 0) return false;
    auto const status = Runtime::enable_peer_access(from);
    if (status == Runtime::peer_access_already_enabled) {
      static_cast<void>(Runtime::last_error());
      return true;
    }
    return accepted(status, "connecting " + device_name(to) + " to " + device_name(from));
  }

  [[nodiscard]] std::unique_ptr<Stream> make_stream(int device) override {
    Current const current(*this, device);
    auto stream = std::make_unique<VendorStream>(device);
    check(Runtime::make_stream(&stream->m_stream), "creating a stream on", device);
    return stream;
  }
  [[nodiscard]] std::unique_ptr<Event> make_event(int device) override {
    Current const current(*this, device);
    auto event = std::make_unique<VendorEvent>(device);
    check(Runtime::make_event(&event->m_event), "creating an event on", device);
    return event;
  }
  void record(Event& event, Stream& stream) override {
    auto& marked = static_cast<VendorStream&>(stream);
    Current const current(*this, marked.m_device);
    check(Runtime::record(static_cast<VendorEvent&>(event).m_event, marked.m_stream), "recording an event on",
          marked.m_device);
  }
  [[nodiscard]] std::unique_ptr<Event> mark(void const* instance) override {
    auto const& given = *static_cast<Instance const*>(instance);
    int const device = Runtime::device_of(given);
    auto event = make_event(device);
    Current const current(*this, device);
    check(Runtime::record(static_cast<VendorEvent&>(*event).m_event, Runtime::stream_of(given)),
          "recording an event on", device);
    return event;
  }
  [[nodiscard]] bool done(Event& event) override {
    auto& asked = static_cast<VendorEvent&>(event);
    Current const current(*this, asked.m_device);
    auto const status = Runtime::query(asked.m_event);
    if (status != Runtime::not_ready) {
      check(status, "waiting for an event on", asked.m_device);
      return true;
    }
    static_cast<void>(Runtime::last_error());
    return false;
  }
  [[nodiscard]] Duration elapsed(Event& first, Event& last) override {
    auto& begin = static_cast<VendorEvent&>(first);
    Current const current(*this, begin.m_device);
    float milliseconds = 0;
    check(Runtime::elapsed(&milliseconds, begin.m_event, static_cast<VendorEvent&>(last).m_event), "timing on",
          begin.m_device);
    return from_seconds(static_cast<double>(milliseconds) * 1e-3);
  }

  void copy(Stream& stream, DeviceCopy const& copy) override {
    auto& queue = static_cast<VendorStream&>(stream);
    Current const current(*this, queue.m_device);
    if (copy.line == 0 || copy.lines == 0) return;
    bool const packed = copy.lines == 1 || (copy.source_pitch == copy.line && copy.destination_pitch == copy.line);
    auto const status =
        !packed ? Runtime::copy_lines(copy, queue.m_stream)
        : copy.direction == DeviceCopy::Direction::Peer
            ? Runtime::copy_peer(copy.destination, copy.destination_device, copy.source, copy.source_device,
                                 copy.line * copy.lines, queue.m_stream)
            : Runtime::copy(copy.destination, copy.source, copy.line * copy.lines, copy.direction, queue.m_stream);
    if (status != Runtime::success) fail(status, description(copy));
  }
  void clear(Stream& stream, std::byte* memory, Bytes bytes) override {
    auto& queue = static_cast<VendorStream&>(stream);
    Current const current(*this, queue.m_device);
    check(Runtime::clear(memory, bytes, queue.m_stream), "clearing memory on", queue.m_device);
  }

  void launch(Stream& stream, Kernel kernel, KernelCall const& call) override {
    auto const device = static_cast<VendorStream&>(stream).m_device;
    Current const current(*this, device);
    // An old error does not belong to this kernel; but Kokkos would end the process for a lost device.
    if (auto const left = Runtime::last_error(); Runtime::is_lost(left)) {
      fail(left, "launching a kernel on " + device_name(device));
    }
    try {
      kernel(call);
    } catch (DeviceLost const&) {
      throw;
    } catch (std::exception const& error) {
      // Libraries throw their own exceptions; the runtime knows whether the device is lost.
      auto const status = Runtime::last_error();
      if (Runtime::is_lost(status)) {
        fail(status, "launching a kernel on " + device_name(device) + " (" + error.what() + ")");
      }
      throw;
    }
    check(Runtime::last_error(), "launching a kernel on", device);
  }
  void on_device(int device, std::function<void()> const& function) noexcept override {
    Quietly const current(device);
    function();
  }

 private:
  using Status = typename Runtime::Status;
  using Instance = typename Runtime::Instance;

  // Makes a device the thread's current one and ignores failures; -1 changes nothing.
  class Quietly {
   public:
    explicit Quietly(int device) {
      if (Runtime::current_device(&m_previous) != Runtime::success) m_previous = device;
      m_status = device < 0 ? Runtime::success : Runtime::set_device(device);
    }
    // Other calls may change the current device meanwhile. A thread that chose none has device 0: if nobody uses device
    // 0, restoring it would take memory on it, or fail if another process owns it exclusively.
    ~Quietly() {
      if (Runtime::in_use(m_previous)) static_cast<void>(Runtime::set_device(m_previous));
    }
    Quietly(Quietly const&) = delete;
    Quietly& operator=(Quietly const&) = delete;
    [[nodiscard]] Status status() const { return m_status; }

   private:
    int m_previous = 0;
    Status m_status{};
  };
  class Current : public Quietly {
   public:
    Current(VendorApi const& api, int device) : Quietly(device) {
      if (device < 0 || device >= api.m_devices) {
        static_cast<void>(Runtime::last_error());
        throw InvalidArgument("device " + std::to_string(device) + " does not exist: " + api.name() + " has " +
                              std::to_string(api.m_devices));
      }
      check(this->status(), "selecting", device);
      api.m_latest.store(device, std::memory_order_relaxed);
    }
  };
  // For calls that concern no device, but would initialise the thread's current one: switches to a device in use, if
  // any.
  class Somewhere : public Quietly {
   public:
    explicit Somewhere(VendorApi const& api) : Quietly(api.m_latest.load(std::memory_order_relaxed)) {}
  };

  class VendorStream final : public Stream {
   public:
    explicit VendorStream(int device) : m_device(device) {}
    ~VendorStream() override {
      Quietly const current(m_device);
      if (m_stream == nullptr) return;
      if (Runtime::is_lost(Runtime::synchronize(m_stream))) {
        static_cast<void>(m_instance.release());  // Kokkos would end the process where a call on a lost device fails
        return;
      }
      m_instance.reset();
      static_cast<void>(Runtime::destroy_stream(m_stream));
    }
    VendorStream(VendorStream const&) = delete;
    VendorStream& operator=(VendorStream const&) = delete;
    [[nodiscard]] int device() const override { return m_device; }
    // Created on first use: streams of copies need none, and each takes device memory.
    [[nodiscard]] void const* instance() const override {
      if (!m_instance) {
        Quietly const current(m_device);
        m_instance = std::unique_ptr<Instance const>(new Instance(Runtime::make_instance(m_stream)));
      }
      return m_instance.get();
    }

    int m_device;
    typename Runtime::Stream m_stream = nullptr;

   private:
    mutable std::unique_ptr<Instance const> m_instance;
  };

  class VendorEvent final : public Event {
   public:
    explicit VendorEvent(int device) : m_device(device) {}
    ~VendorEvent() override {
      Quietly const current(m_device);
      if (m_event != nullptr) static_cast<void>(Runtime::destroy_event(m_event));
    }
    VendorEvent(VendorEvent const&) = delete;
    VendorEvent& operator=(VendorEvent const&) = delete;

    int m_device;
    typename Runtime::Event m_event = nullptr;
  };

  [[nodiscard]] static std::string sentence(Status status, std::string const& what) {
    return Runtime::label + std::string(": ") + what + ": " + Runtime::text(status) + " (" +
           Runtime::error_name(status) + ")";
  }
  [[noreturn]] static void fail(Status status, std::string const& what) {
    static_cast<void>(Runtime::last_error());
    if (Runtime::is_lost(status)) throw DeviceLost(sentence(status, what));
    throw DeviceError(sentence(status, what));
  }
  static void check(Status status, char const* what, int device) {
    if (status != Runtime::success) fail(status, what + (" " + device_name(device)));
  }
  // A refusal is a valid answer, unless the device is lost.
  [[nodiscard]] static bool accepted(Status status, std::string const& what) {
    if (Runtime::is_lost(status)) fail(status, what);
    if (status != Runtime::success) static_cast<void>(Runtime::last_error());
    return status == Runtime::success;
  }

  [[nodiscard]] static std::string device_name(int device) { return "device " + std::to_string(device); }
  // The free and the total memory of the current device.
  [[nodiscard]] static std::pair<Bytes, Bytes> free_memory(int device) {
    std::size_t free = 0;
    std::size_t total = 0;
    check(Runtime::memory(&free, &total), "querying the free memory of", device);
    return {free, total};
  }
  [[nodiscard]] static std::string description(DeviceCopy const& copy) {
    auto const end = [](int device) { return device < 0 ? std::string("the host") : device_name(device); };
    bool const from_host = copy.direction == DeviceCopy::Direction::ToDevice;
    bool const to_host = copy.direction == DeviceCopy::Direction::ToHost;
    return "copying " + std::to_string(copy.lines) + " x " + std::to_string(copy.line) + " bytes from " +
           end(from_host ? -1 : copy.source_device) + " to " + end(to_host ? -1 : copy.destination_device);
  }

  int m_devices = 0;
  mutable std::atomic<int> m_latest = -1;  // the device of the latest request
};

}  // namespace granary::detail
