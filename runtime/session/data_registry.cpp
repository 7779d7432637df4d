// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/session/data_registry.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace granary::detail {

namespace {

// Pinning less is not worth a system call.
constexpr Bytes least_pinned = 64_KiB;

}  // namespace

DataId DataRegistry::add(DataDescription description, DataBinding const& binding) const {
  auto const bytes = description.bytes;
  auto name = m_checks ? description.name : std::string();
  auto const added =
      m_machine.engine().add_data(std::move(description), {nullptr, nullptr, binding.keep},
                                  [&](DataId id) { m_machine.disk().bind(id, binding.origin, binding.home); });
  if (m_checks) m_checks->add(added, std::move(name), bytes);
  return added;
}

SharedData DataRegistry::add_view(std::string name, Bytes bytes, DataBinding binding) const {
  auto const& lines = binding.lines;
  Bytes const span = lines.count > 0 ? (lines.count - 1) * lines.pitch + lines.line : bytes;
  NodeId const node = node_of(name, binding.memory, span, binding.on_host);
  std::optional<MirrorBinding> mirror;
  if (auto const& side = binding.mirror; side.memory != nullptr) {
    mirror = {.node = node_of(name, side.memory, span, false), .address = side.memory, .valid = side.valid};
  }
  DataDescription description{.name = std::move(name),
                              .bytes = bytes,
                              .origin = node,
                              .home = node,
                              .origin_is_home = true,
                              .in_place = node != host_node() || *m_machine.options().workers > 0,
                              .may_return = true,
                              .position = binding.position};
  if (auto added = node == host_node() ? pin(binding.memory, span) : nullptr) {
    using Both = std::pair<std::shared_ptr<void const>, std::shared_ptr<void const>>;
    auto const* const seen = binding.keep ? binding.keep.get() : added.get();
    auto both = std::make_shared<Both const>(std::move(binding.keep), std::move(added));
    binding.keep = {std::move(both), seen};
  }
  std::shared_ptr<CheckedDatum> checked;
  if (m_checks && !mirror) {
    auto const* const seen = binding.keep ? binding.keep.get() : binding.memory;
    checked = std::make_shared<CheckedDatum>(
        CheckedDatum{description.name, bytes, binding.memory, *binding.set, std::move(binding.keep)});
    binding.keep = {checked, seen};
  }
  auto added = m_machine.engine().add_host_data(std::move(description),
                                                {.origin = binding.memory,
                                                 .home = binding.memory,
                                                 .keep = std::move(binding.keep),
                                                 .lines = binding.lines,
                                                 .serves = binding.serves},
                                                std::move(*binding.set), mirror ? &*mirror : nullptr);
  // Not if these bytes were registered before: the engine then keeps what it has.
  bool const kept = checked && !added.keep.owner_before(checked) && !checked.owner_before(added.keep);
  if (kept) m_checks->add(added.data, checked);
  return added;
}

NodeId DataRegistry::node_of(std::string const& name, std::byte const* memory, Bytes bytes, bool on_host) const {
  auto const& devices = m_machine.devices();
  if (devices.empty() && !on_host) {
    throw InvalidArgument("'" + name +
                          "' is in device memory, but this Runtime uses no devices (RuntimeOptions::devices)");
  }
  if (devices.empty() || (on_host && !devices.api->emulated())) return host_node();
  int const device = devices.api->holder_of(memory, bytes);
  auto const used = std::ranges::find(devices.numbers, device);
  if (used != devices.numbers.end()) return device_node(static_cast<std::size_t>(used - devices.numbers.begin()));
  if (device == host_end && on_host) return host_node();
  throw InvalidArgument("'" + name + "' is in " +
                        (device == host_end ? "memory that neither the host nor a device can access"
                                            : "the memory of device " + std::to_string(device) +
                                                  ", which this Runtime does not use (RuntimeOptions::devices)"));
}

std::shared_ptr<void const> DataRegistry::pin(std::byte* memory, Bytes bytes) const {
  auto const& pinned = m_machine.pinned();
  if (!pinned || bytes < least_pinned) return nullptr;
  pinned->add(memory, bytes);
  return {memory, [pinned](std::byte* added) { pinned->remove(added); }};
}

}  // namespace granary::detail
