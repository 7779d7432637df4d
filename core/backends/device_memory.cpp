// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/device_memory.hpp>

#include <granary/core/base/error.hpp>

#include <iterator>
#include <utility>

namespace granary {

DeviceMemory::DeviceMemory(std::shared_ptr<DeviceApi> api, int device, Bytes bytes)
    : m_api(std::move(api)), m_device(device), m_bytes(bytes) {
  if (bytes > 0) m_base = m_api->allocate(device, bytes);
}

DeviceMemory::~DeviceMemory() {
  if (m_base != nullptr) m_api->free(m_device, m_base);
}

PinnedMemory::PinnedMemory(std::shared_ptr<DeviceApi> api) : m_api(std::move(api)) {}

PinnedMemory::~PinnedMemory() {
  for (auto const& [memory, region] : m_regions) {
    if (region->pinned) m_api->unpin(region->memory);
  }
}

// The system is asked without the lock, which copies take: it may need long. Until it answered the range is known, and
// not pinned.
void PinnedMemory::add(std::byte* memory, Bytes bytes) {
  if (memory == nullptr || bytes == 0) return;
  Region* region = nullptr;
  {
    std::lock_guard const lock(m_mutex);
    region = covering(memory, bytes);
    if (region != nullptr || overlaps(memory, bytes)) {
      if (region != nullptr) ++region->adds;
      m_adds.emplace(memory, region);
      return;
    }
    auto& kept = m_regions[memory];
    kept = std::make_unique<Region>(Region{memory, bytes, 1, false});
    region = kept.get();
    // Not among the additions yet: nobody can remove it meanwhile.
  }
  bool pinned = false;
  try {
    pinned = m_api->pin(memory, bytes);
  } catch (DeviceError const&) {  // NOLINT(bugprone-empty-catch): the system refuses
  }
  std::lock_guard const lock(m_mutex);
  region->pinned = pinned;
  m_adds.emplace(memory, region);
}

void PinnedMemory::remove(std::byte* memory) noexcept {
  std::unique_ptr<Region> last;
  {
    std::lock_guard const lock(m_mutex);
    auto found = m_adds.upper_bound(memory);
    if (found == m_adds.begin() || (--found)->first != memory) return;
    auto* const region = found->second;
    m_adds.erase(found);
    if (region == nullptr || --region->adds > 0) return;
    auto const kept = m_regions.find(region->memory);
    last = std::move(kept->second);
    m_regions.erase(kept);
  }
  if (last->pinned) m_api->unpin(last->memory);
}

bool PinnedMemory::contains(std::byte const* memory, Bytes bytes) const {
  std::lock_guard const lock(m_mutex);
  auto const* const region = covering(memory, bytes);
  return region != nullptr && region->pinned;
}

PinnedMemory::Region* PinnedMemory::covering(std::byte const* memory, Bytes bytes) const {
  auto found = m_regions.upper_bound(memory);
  if (found == m_regions.begin()) return nullptr;
  auto& region = *(--found)->second;
  auto const offset = static_cast<Bytes>(memory - region.memory);
  return offset <= region.bytes && bytes <= region.bytes - offset ? &region : nullptr;
}

bool PinnedMemory::overlaps(std::byte const* memory, Bytes bytes) const {
  auto const next = m_regions.lower_bound(memory);
  if (next != m_regions.end() && next->first < memory + bytes) return true;
  return next != m_regions.begin() && memory < std::prev(next)->first + std::prev(next)->second->bytes;
}

PinnedPool::PinnedPool(std::shared_ptr<PinnedMemory> pinned, std::string const& node_name, Bytes bytes)
    : m_pinned(std::move(pinned)), m_pool(node_name, bytes) {
  m_pinned->add(m_pool.base(), bytes);
}

PinnedPool::~PinnedPool() {
  if (m_pool.base() != nullptr) m_pinned->remove(m_pool.base());
}

}  // namespace granary
