// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/emulated_api.hpp>

#include <granary/detail/core/backends/emulated_stream.hpp>
#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <utility>

namespace granary::detail {

namespace {

using detail::EmulatedDevice;
using detail::EmulatedDevices;
using detail::EmulatedEvent;
using detail::EmulatedMark;
using detail::EmulatedStream;

class EmulatedApi final : public DeviceApi {
 public:
  explicit EmulatedApi(EmulatedOptions options) : m_devices(std::make_shared<EmulatedDevices>(std::move(options))) {}

  [[nodiscard]] std::string name() const override { return "emulated"; }
  [[nodiscard]] int devices() const override { return m_devices->options.devices; }
  [[nodiscard]] DeviceProperties properties(int device) const override {
    return {.name = "emulated device",
            .architecture = "host",
            .bus = {},
            .memory = m_devices->options.memory,
            .free = at(device).free_bytes()};
  }
  [[nodiscard]] bool emulated() const override { return true; }

  [[nodiscard]] std::byte* allocate(int device, Bytes bytes) override { return at(device).allocate(bytes); }
  void free(int device, std::byte* memory) noexcept override {
    if (exists(device)) at(device).free(memory);
  }
  [[nodiscard]] std::byte* allocate_pinned(Bytes bytes) override {
    std::unique_ptr<Pool> pool;
    try {
      pool = std::make_unique<Pool>("pinned host memory", bytes);
    } catch (Error const& error) {
      throw DeviceError(error.what());
    }
    auto* const base = pool->base();
    std::lock_guard const lock(m_mutex);
    if (base != nullptr) m_pinned.emplace(base, std::move(pool));
    return base;
  }
  void free_pinned(std::byte* memory) noexcept override {
    std::lock_guard const lock(m_mutex);
    m_pinned.erase(memory);
  }
  [[nodiscard]] bool pin(std::byte* memory, Bytes bytes) override { return !is_pinned(memory, bytes); }
  void unpin(std::byte*) noexcept override {}
  [[nodiscard]] bool is_pinned(std::byte const* memory, Bytes bytes) override {
    std::lock_guard const lock(m_mutex);
    return detail::lies_in_one(m_pinned, memory, bytes);
  }
  [[nodiscard]] int holder_of(std::byte const* memory, Bytes bytes) override {
    for (int device = 0; device < devices(); ++device) {
      if (at(device).holds(memory, bytes)) return device;
    }
    return host_end;
  }
  [[nodiscard]] bool connect(int from, int to) override {
    at(from).check_present();
    at(to).check_present();
    return m_devices->options.peers;
  }

  [[nodiscard]] std::unique_ptr<Stream> make_stream(int device) override {
    at(device).check_present();
    return std::make_unique<EmulatedStream>(m_devices, device);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event(int device) override {
    at(device).check_present();
    return std::make_unique<EmulatedEvent>();
  }
  void record(Event& event, Stream& stream) override {
    auto& mark = static_cast<EmulatedEvent&>(event).mark;
    mark = std::make_shared<EmulatedMark>();
    static_cast<EmulatedStream&>(stream).record(mark);
  }
  [[nodiscard]] std::unique_ptr<Event> mark(void const*) override { return std::make_unique<EmulatedEvent>(); }
  [[nodiscard]] bool done(Event& event) override {
    auto const& mark = static_cast<EmulatedEvent&>(event).mark;
    if (!mark) return true;
    if (!mark->performed.load(std::memory_order_acquire)) return false;
    if (mark->error) std::rethrow_exception(mark->error);
    return true;
  }
  [[nodiscard]] Duration elapsed(Event& first, Event& last) override {
    return instant(last, "last") - instant(first, "first");
  }
  void copy(Stream& stream, DeviceCopy const& copy) override {
    check(copy);
    static_cast<EmulatedStream&>(stream).copy(copy);
  }
  void clear(Stream& stream, std::byte* memory, Bytes bytes) override {
    static_cast<EmulatedStream&>(stream).clear(memory, bytes);
  }
  void launch(Stream& stream, Kernel kernel, KernelCall const& call) override {
    static_cast<EmulatedStream&>(stream).launch(kernel, call);
  }
  void on_device(int, std::function<void()> const& function) noexcept override { function(); }

 private:
  [[nodiscard]] bool exists(int device) const { return device >= 0 && device < devices(); }
  [[nodiscard]] EmulatedDevice& at(int device) const {
    if (!exists(device)) {
      throw InvalidArgument("there is no emulated device " + std::to_string(device) + ": there are " +
                            std::to_string(devices()));
    }
    return m_devices->devices[static_cast<std::size_t>(device)];
  }

  [[nodiscard]] static detail::SteadyClock::time_point instant(Event& event, char const* which) {
    auto const& mark = static_cast<EmulatedEvent&>(event).mark;
    if (!mark || !mark->performed.load(std::memory_order_acquire)) {
      throw DeviceError(std::string("no time elapsed between two events: the ") + which + " was not performed yet");
    }
    return mark->instant;
  }

  void check(DeviceCopy const& copy) const {
    using enum DeviceCopy::Direction;
    if (copy.lines > 1 && (copy.line > copy.source_pitch || copy.line > copy.destination_pitch)) {
      throw DeviceError("a copy of lines of " + std::to_string(copy.line) + " bytes cannot have a pitch of " +
                        std::to_string(std::min(copy.source_pitch, copy.destination_pitch)) + " bytes");
    }
    if (copy.direction != ToDevice) check_end(copy.source_device, copy.source, copy, copy.source_pitch);
    if (copy.direction != ToHost) check_end(copy.destination_device, copy.destination, copy, copy.destination_pitch);
  }
  void check_end(int device, std::byte const* memory, DeviceCopy const& copy, Bytes pitch) const {
    if (copy.lines == 0) return;
    Bytes const extent = (copy.lines - 1) * pitch + copy.line;
    if (!at(device).holds(memory, extent)) {
      throw DeviceError("a copy's " + std::to_string(extent) +
                        " bytes do not lie in one allocation of emulated device " + std::to_string(device));
    }
  }

  std::shared_ptr<EmulatedDevices> m_devices;
  std::mutex m_mutex;
  detail::Allocations m_pinned;
};

}  // namespace

std::shared_ptr<DeviceApi> make_emulated_api(EmulatedOptions options) {
  if (options.devices < 1) {
    throw InvalidArgument("an emulation needs at least one device, not " + std::to_string(options.devices));
  }
  return std::make_shared<EmulatedApi>(std::move(options));
}

}  // namespace granary::detail
