// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of an Engine that concern data.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine.hpp>

#include <utility>

namespace granary::detail {

DataId Engine::add_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind) {
  return apply([&] { return register_data(std::move(description), std::move(binding), bind); });
}

DataId Engine::register_data(DataDescription description, HostBinding binding, std::function<void(DataId)> const& bind,
                             std::span<FixedPlace const> places, std::span<SharedBytes const> shares) {
  auto const added = m_planner.handle(AddData{std::move(description), places, shares});
  m_data.bind(added, std::move(binding));
  if (bind) bind(added);
  return added;
}

SharedData Engine::add_host_data(DataDescription description, HostBinding binding, ByteSet bytes,
                                 MirrorBinding const* mirror) {
  return apply([&] {
    if (auto const known = m_data.find(bytes, binding); known.valid()) {
      if (mirror != nullptr && m_data.mirror(known) != mirror->address) {
        throw InvalidArgument("the host side of '" + description.name + "' is data '" +
                              m_planner.view().description(known).name +
                              "' already, without its device side: destroy the handles on it first");
      }
      m_planner.handle(RetainData{known});
      return SharedData{known, m_data.share(known, std::move(binding))};
    }
    auto keep = binding.keep;
    std::vector<FixedPlace> places;
    if (mirror != nullptr) places.push_back({.node = mirror->node, .writable = true, .valid = mirror->valid});
    auto const shares = m_data.sharing(bytes);
    auto const added = register_data(std::move(description), std::move(binding), nullptr, places, shares);
    m_data.add_bytes(added, std::move(bytes));
    if (mirror != nullptr) m_data.bind_mirror(added, mirror->address);
    return SharedData{added, std::move(keep)};
  });
}

void Engine::place_changed(DataId data, NodeId node) {
  apply([&] { m_planner.handle(PlaceChanged{data, node}); });
}

std::string Engine::name_of(DataId data) {
  return apply([&] { return m_planner.view().description(data).name; });
}

bool Engine::has_mirror(DataId data) {
  return apply([&] { return m_data.mirror(data) != nullptr; });
}

bool Engine::home_in_memory(DataId data) {
  return apply([&] {
    NodeId const home = m_planner.view().description(data).home;
    return home.valid() && topology().machine()[home].kind != NodeKind::Disk;
  });
}

std::vector<DataId> Engine::with_bytes_of(std::span<DataId const> data) {
  return apply([&] { return m_planner.with_bytes_of(data); });
}

bool Engine::has_value(DataId data) {
  return apply([&] { return m_planner.defined(data); });
}

DataId Engine::first_without_value(std::span<DataId const> data) {
  return apply([&] {
    auto const found = std::ranges::find_if_not(data, [&](DataId id) { return m_planner.defined(id); });
    return found != data.end() ? *found : DataId();
  });
}

bool Engine::valid_on(DataId data, NodeId node) {
  return apply([&] { return m_planner.view().valid(data, node); });
}

void Engine::keep_no_old_value(DataId data) {
  apply([&] { m_planner.handle(KeepNoOldValue{data}); });
}

void Engine::prefetch(DataId data, NodeId node) {
  apply([&] { m_planner.handle(Prefetch{data, node}); });
}

void Engine::will_not_use(DataId data) {
  apply([&] { m_planner.handle(WillNotUse{data}); });
}

void Engine::retain_data(DataId data) {
  apply([&] { m_planner.handle(RetainData{data}); });
}

void Engine::release_data(DataId data) {
  apply([&] { m_planner.handle(ReleaseData{data}); });
}

// Under the lock.

}  // namespace granary::detail
