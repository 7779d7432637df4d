// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/divided_device.hpp>

#include <granary/detail/core/base/error.hpp>

#include <utility>

namespace granary::detail {
namespace {

class PartStream final : public DeviceApi::Stream {
 public:
  PartStream(std::unique_ptr<Stream> stream, int part) : m_stream(std::move(stream)), m_part(part) {}

  [[nodiscard]] int device() const override { return m_part; }
  [[nodiscard]] void const* instance() const override { return m_stream->instance(); }
  [[nodiscard]] Stream& whole() const { return *m_stream; }

 private:
  std::unique_ptr<Stream> m_stream;
  int m_part;
};

DeviceApi::Stream& whole(DeviceApi::Stream& stream) { return static_cast<PartStream&>(stream).whole(); }

class DividedDevice final : public DeviceApi {
 public:
  DividedDevice(std::shared_ptr<DeviceApi> api, int device, int parts)
      : m_api(std::move(api)), m_device(device), m_parts(parts) {}

  [[nodiscard]] std::string name() const override { return m_api->name(); }
  [[nodiscard]] int devices() const override { return m_parts; }
  [[nodiscard]] DeviceProperties properties(int part) const override {
    auto properties = m_api->properties(device_of(part));
    properties.name += ", part " + std::to_string(part + 1) + " of " + std::to_string(m_parts);
    properties.memory /= static_cast<Bytes>(m_parts);
    properties.free /= static_cast<Bytes>(m_parts);
    return properties;
  }
  [[nodiscard]] bool emulated() const override { return m_api->emulated(); }

  [[nodiscard]] std::byte* allocate(int part, Bytes bytes) override { return m_api->allocate(device_of(part), bytes); }
  void free(int, std::byte* memory) noexcept override { m_api->free(m_device, memory); }
  [[nodiscard]] std::byte* allocate_pinned(Bytes bytes) override { return m_api->allocate_pinned(bytes); }
  void free_pinned(std::byte* memory) noexcept override { m_api->free_pinned(memory); }
  [[nodiscard]] bool pin(std::byte* memory, Bytes bytes) override { return m_api->pin(memory, bytes); }
  void unpin(std::byte* memory) noexcept override { m_api->unpin(memory); }
  // All parts can access it: it counts as the first one's.
  [[nodiscard]] int holder_of(std::byte const* memory, Bytes bytes) override {
    return m_api->holder_of(memory, bytes) == m_device ? 0 : host_end;
  }
  [[nodiscard]] bool is_pinned(std::byte const* memory, Bytes bytes) override {
    return m_api->is_pinned(memory, bytes);
  }
  [[nodiscard]] bool connect(int, int) override { return true; }

  [[nodiscard]] std::unique_ptr<Stream> make_stream(int part) override {
    return std::make_unique<PartStream>(m_api->make_stream(device_of(part)), part);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event(int part) override { return m_api->make_event(device_of(part)); }
  void record(Event& event, Stream& stream) override { m_api->record(event, whole(stream)); }
  [[nodiscard]] std::unique_ptr<Event> mark(void const* instance) override { return m_api->mark(instance); }
  [[nodiscard]] bool done(Event& event) override { return m_api->done(event); }
  [[nodiscard]] Duration elapsed(Event& first, Event& last) override { return m_api->elapsed(first, last); }
  void copy(Stream& stream, DeviceCopy const& copy) override {
    auto of_whole = copy;
    for (int* end : {&of_whole.source_device, &of_whole.destination_device}) *end = *end < 0 ? *end : m_device;
    m_api->copy(whole(stream), of_whole);
  }
  void clear(Stream& stream, std::byte* memory, Bytes bytes) override { m_api->clear(whole(stream), memory, bytes); }
  void launch(Stream& stream, Kernel kernel, KernelCall const& call) override {
    m_api->launch(whole(stream), kernel, call);
  }
  void on_device(int, std::function<void()> const& function) noexcept override { m_api->on_device(m_device, function); }

 private:
  [[nodiscard]] int device_of(int part) const {
    if (part >= 0 && part < m_parts) return m_device;
    throw InvalidArgument("part " + std::to_string(part) + " does not exist: there are " + std::to_string(m_parts));
  }

  std::shared_ptr<DeviceApi> m_api;
  int m_device, m_parts;
};

}  // namespace

std::shared_ptr<DeviceApi> divide_device(std::shared_ptr<DeviceApi> api, int device, int parts) {
  if (device < 0 || device >= api->devices()) {
    throw InvalidArgument("device " + std::to_string(device) + " cannot be divided: there are " +
                          std::to_string(api->devices()));
  }
  if (parts < 1) throw InvalidArgument("a device cannot be divided into " + std::to_string(parts) + " parts");
  return std::make_shared<DividedDevice>(std::move(api), device, parts);
}

}  // namespace granary::detail
