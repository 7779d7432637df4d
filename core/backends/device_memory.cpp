// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_memory.hpp>

#include <granary/detail/core/base/error.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace granary::detail {

namespace {
std::once_flag warned_of_refusal;
}

DeviceMemory::DeviceMemory(std::shared_ptr<DeviceApi> api, int device, Bytes bytes)
    : m_api(std::move(api)), m_device(device), m_bytes(bytes) {
  if (bytes > 0) m_base = m_api->allocate(device, bytes);
}

DeviceMemory::~DeviceMemory() {
  if (m_base != nullptr) m_api->free(m_device, m_base);
}

PinnedMemory::PinnedMemory(std::shared_ptr<DeviceApi> api) : m_api(std::move(api)) {}

PinnedMemory::~PinnedMemory() {
  for (auto const& [memory, region] : m_regions) give_up(*region);
}

void PinnedMemory::add(std::byte* memory, Bytes bytes) {
  if (auto* const region = enter(memory, bytes, false)) pin(*region);
}

void PinnedMemory::add_for_use(std::byte* memory, Bytes bytes) { static_cast<void>(enter(memory, bytes, true)); }

// Returns the region if it is new, null otherwise.
PinnedMemory::Region* PinnedMemory::enter(std::byte* memory, Bytes bytes, bool awaits_use) {
  if (memory == nullptr || bytes == 0) return nullptr;
  std::lock_guard const lock(m_mutex);
  auto* const shared = covering(memory, bytes);
  if (shared != nullptr || overlaps(memory, bytes)) {
    if (shared != nullptr) ++shared->adds;
    m_adds.emplace(memory, shared);
    return nullptr;
  }
  auto made = std::make_unique<Region>(Region{.memory = memory, .bytes = bytes, .awaits_use = awaits_use});
  auto* const region = made.get();
  m_regions.emplace(memory, std::move(made));
  m_adds.emplace(memory, region);
  return region;
}

// Call the system without the lock, which copies take: pinning may take long. Until it returns, the range counts as not
// pinned.
void PinnedMemory::pin(Region& region) {
  bool foreign = false;
  bool pinned = false;
  try {
    pinned = m_api->pin(region.memory, region.bytes);
    foreign = !pinned && m_api->is_pinned(region.memory, region.bytes);
  } catch (DeviceError const&) {  // NOLINT(bugprone-empty-catch): the system refuses
  }
  if (!pinned && !foreign) {
    std::call_once(warned_of_refusal, [&] {
      spdlog::warn("granary: {} of host memory cannot be pinned; copies between it and devices are slower",
                   format_bytes(region.bytes));
    });
  }
  std::lock_guard const lock(m_mutex);
  region.pinned = pinned || foreign;
  region.foreign = foreign;
}

void PinnedMemory::give_up(Region& region) noexcept {
  if (region.pinning.joinable()) region.pinning.join();
  if (region.pinned && !region.foreign) m_api->unpin(region.memory);
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
  give_up(*last);
}

bool PinnedMemory::contains(std::byte const* memory, Bytes bytes) {
  std::lock_guard const lock(m_mutex);
  auto* const region = covering(memory, bytes);
  if (region == nullptr) return false;
  if (std::exchange(region->awaits_use, false)) {
    try {
      region->pinning = std::thread([this, region] { pin(*region); });
    } catch (std::system_error const&) {  // NOLINT(bugprone-empty-catch): without a thread it stays unpinned
    }
  }
  return region->pinned;
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

PinnedPool::PinnedPool(std::shared_ptr<PinnedMemory> pinned, std::string const& node_name, Bytes bytes, When when)
    : m_pinned(std::move(pinned)), m_pool(node_name, bytes) {
  if (when == When::AtOnce) {
    m_pinned->add(m_pool.base(), bytes);
    m_pieces.push_back(m_pool.base());
    return;
  }
  for (Bytes offset = 0; offset < bytes;) {
    Bytes const piece = std::min(std::clamp<Bytes>(offset, 64_MiB, 1_GiB), bytes - offset);
    m_pieces.push_back(m_pool.base() + offset);
    m_pinned->add_for_use(m_pieces.back(), piece);
    offset += piece;
  }
}

PinnedPool::~PinnedPool() {
  for (auto* const piece : m_pieces) m_pinned->remove(piece);
}

}  // namespace granary::detail
