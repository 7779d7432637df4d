// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/disk_node.hpp>

#include <granary/detail/core/base/error.hpp>

#include <utility>

namespace granary::detail {

void DiskNode::bind(DataId data, StorageSlot const& origin, StorageSlot const& home) {
  std::lock_guard const lock(m_mutex);
  if (data.index() >= m_slots.size()) m_slots.resize(data.index() + 1);
  m_slots[data.index()] = {origin.storage.get(), home.storage.get(), origin.slot, home.slot};
  for (auto const* slot : {&origin, &home}) {
    if (!*slot) continue;
    auto& used = m_storages[slot->storage.get()];
    used.storage = slot->storage;
    ++used.data;
  }
}

void DiskNode::forget(DataId data) {
  std::lock_guard const lock(m_mutex);
  if (data.index() >= m_slots.size()) return;
  auto const slots = std::exchange(m_slots[data.index()], {});
  release(slots.origin);
  release(slots.home);
}

void DiskNode::release(Storage* storage) {
  if (storage != nullptr) --m_storages.at(storage).data;
}

void DiskNode::collect() {
  std::vector<std::shared_ptr<Storage>> unused;  // destroyed after the lock is released
  std::lock_guard const lock(m_mutex);
  std::erase_if(m_storages, [&](auto& entry) {
    if (entry.second.data > 0) return false;
    unused.push_back(std::move(entry.second.storage));
    return true;
  });
}

// `bind` and `forget` take the lock under the engine's lock, so it is not held while a file is opened. Concurrent first
// copies open one storage each; one is kept, the others are destroyed.
Storage* DiskNode::scratch() {
  {
    std::lock_guard const lock(m_mutex);
    if (m_scratch) return m_scratch.get();
  }
  auto opened = m_open_scratch();
  std::lock_guard const lock(m_mutex);
  if (!m_scratch) m_scratch = std::move(opened);
  return m_scratch.get();
}

DiskNode::Target DiskNode::target(DataId data, Place const& place) {
  if (place.slot == Slot::Pool) return {scratch(), place.offset};
  std::lock_guard const lock(m_mutex);
  auto const slots = data.index() < m_slots.size() ? m_slots[data.index()] : Slots{};
  return place.slot == Slot::Origin ? Target{slots.origin, slots.origin_slot} : Target{slots.home, slots.home_slot};
}

void DiskNode::copy_async(CopyRequest const& request, CopyCompletion done) {
  bool const reading = request.destination != nullptr;
  auto const [storage, slot] = target(request.data, reading ? request.from : request.to);
  if (storage == nullptr || (!reading && request.source == nullptr)) {
    throw InternalError("datum " + std::to_string(request.data.value()) + " has no storage bound for this copy");
  }
  if (reading) {
    storage->read_async(slot, request.destination, request.bytes, std::move(done));
  } else {
    storage->write_async(slot, request.source, request.bytes, std::move(done));
  }
}

}  // namespace granary::detail
