// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace granary::detail {

/// A device's memory as a node's memory: one allocation for the lifetime of the node.
class GRANARY_EXPORT DeviceMemory final : public NodeMemory {
 public:
  /// Throws DeviceError, with the requested and the free bytes, when the device refuses.
  DeviceMemory(std::shared_ptr<DeviceApi> api, int device, Bytes bytes);
  ~DeviceMemory() override;
  DeviceMemory(DeviceMemory const&) = delete;
  DeviceMemory& operator=(DeviceMemory const&) = delete;

  [[nodiscard]] std::byte* base() const override { return m_base; }
  [[nodiscard]] Bytes bytes() const { return m_bytes; }

 private:
  std::shared_ptr<DeviceApi> m_api;
  int m_device;
  Bytes m_bytes;
  std::byte* m_base = nullptr;
};

/// Tracks which host memory is pinned: devices copy from and to pinned memory at full speed. Thread-safe.
class GRANARY_EXPORT PinnedMemory {
 public:
  explicit PinnedMemory(std::shared_ptr<DeviceApi> api);
  /// Unpins the remaining ranges.
  ~PinnedMemory();
  PinnedMemory(PinnedMemory const&) = delete;
  PinnedMemory& operator=(PinnedMemory const&) = delete;

  /// Pins the range; waits, long for large ranges. Ranges inside a pinned range share it and keep it pinned; memory
  /// that others have pinned is used as it is. A range that the system refuses to pin, or that overlaps a pinned range
  /// in part, stays unpinned; the first refusal is logged.
  void add(std::byte* memory, Bytes bytes);
  /// Pins the range when it is first used, on a separate thread: pinning allocates all pages of the range.
  void add_for_use(std::byte* memory, Bytes bytes);
  /// Undoes the latest `add` of that address; does nothing if there was none.
  void remove(std::byte* memory) noexcept;
  /// True if the whole range is pinned.
  [[nodiscard]] bool contains(std::byte const* memory, Bytes bytes);

 private:
  struct Region {
    std::byte* memory = nullptr;
    Bytes bytes = 0;
    std::size_t adds = 1;
    bool awaits_use = false;
    bool pinned = false;
    bool foreign = false;      ///< pinned by somebody else
    std::thread pinning = {};  ///< the thread that pins a range after its first use
  };
  [[nodiscard]] Region* enter(std::byte* memory, Bytes bytes, bool awaits_use);
  void pin(Region& region);
  void give_up(Region& region) noexcept;
  [[nodiscard]] Region* covering(std::byte const* memory, Bytes bytes) const;
  [[nodiscard]] bool overlaps(std::byte const* memory, Bytes bytes) const;

  std::shared_ptr<DeviceApi> m_api;
  std::mutex m_mutex;
  std::map<std::byte const*, std::unique_ptr<Region>> m_regions;  // by first byte; disjoint
  std::multimap<std::byte const*, Region*> m_adds;                // by address; null: stayed unpinned
};

/// A node's memory on the host, pinned as far as the system allows it.
class GRANARY_EXPORT PinnedPool final : public NodeMemory {
 public:
  /// OnUse: each piece just after the first copy between it and a device. Pinning takes 0.2 s/GB and allocates all
  /// pages, and many runs use little of the pool. Pieces begin with 64 MiB and grow with the offset, up to 1 GiB.
  enum class When : std::uint8_t { AtOnce, OnUse };
  /// Throws as Pool does.
  PinnedPool(std::shared_ptr<PinnedMemory> pinned, std::string const& node_name, Bytes bytes, When when = When::AtOnce);
  ~PinnedPool() override;
  PinnedPool(PinnedPool const&) = delete;
  PinnedPool& operator=(PinnedPool const&) = delete;

  [[nodiscard]] std::byte* base() const override { return m_pool.base(); }

 private:
  std::shared_ptr<PinnedMemory> m_pinned;
  Pool m_pool;
  std::vector<std::byte*> m_pieces;
};

}  // namespace granary::detail
