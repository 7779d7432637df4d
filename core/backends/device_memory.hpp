// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/device_api.hpp>
#include <granary/core/engine/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#pragma GCC visibility push(default)

namespace granary {

/// A device's memory as a node has it: one slab, taken once and given back once.
class DeviceMemory final : public NodeMemory {
 public:
  /// Throws DeviceError, which says what was asked for and what is free, when the device refuses.
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

/// Which host memory is pinned: what devices copy from and to at full speed. Thread-safe.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::shared_ptr<DeviceApi> api);
  /// Unpins what is left.
  ~PinnedMemory();
  PinnedMemory(PinnedMemory const&) = delete;
  PinnedMemory& operator=(PinnedMemory const&) = delete;

  /// Pins the range; waits, for long where it is large. What lies in a pinned range shares it and keeps it pinned; what
  /// somebody else has pinned is used as it is. What the system refuses, or overlaps a pinned range in part, stays as
  /// it is; a refusal is said once in the log.
  void add(std::byte* memory, Bytes bytes);
  /// The same when the range is first asked for, and then on a thread of its own: pinning takes all pages of the range.
  void add_for_use(std::byte* memory, Bytes bytes);
  /// Undoes the latest `add` of that address; nothing where there was none.
  void remove(std::byte* memory) noexcept;
  /// Whether all of the range is pinned.
  [[nodiscard]] bool contains(std::byte const* memory, Bytes bytes);

 private:
  struct Region {
    std::byte* memory = nullptr;
    Bytes bytes = 0;
    std::size_t adds = 1;
    bool awaits_use = false;
    bool pinned = false;
    bool foreign = false;      ///< somebody else pinned it
    std::thread pinning = {};  ///< of one that awaited its use
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

/// A node's memory on the host that devices copy from and to at full speed, as far as the system lets it be pinned.
class PinnedPool final : public NodeMemory {
 public:
  /// OnUse: a moment after the first copy between it and a device; before, pages are taken as they are touched.
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
};

}  // namespace granary

#pragma GCC visibility pop
