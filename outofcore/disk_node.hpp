// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/outofcore/storage.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// A disk in the engine: performs the copies on the links to and from one disk node. A datum's origin and home are
/// slots of storages; values without a home are in a scratch storage at the planner's offsets.
class GRANARY_EXPORT DiskNode final : public CopyBackend {
 public:
  using OpenScratch = std::function<std::unique_ptr<Storage>()>;

  /// `open_scratch` is called without a lock when the first value is written to scratch; an exception fails that copy.
  /// Several threads may call it concurrently; one of the storages is used.
  explicit DiskNode(OpenScratch open_scratch) : m_open_scratch(std::move(open_scratch)) {}

  /// Sets the datum's origin and home. Storages are kept until their last datum is forgotten and `collect` is called.
  void bind(DataId data, StorageSlot const& origin, StorageSlot const& home);
  void copy_async(CopyRequest const& request, CopyCompletion done) override;
  void forget(DataId data) override;
  /// Releases storages that no datum uses any more. Call it from a thread that may destroy them, so not from an I/O
  /// thread.
  void collect();

 private:
  struct Slots {
    Storage* origin = nullptr;
    Storage* home = nullptr;
    std::uint64_t origin_slot = 0;
    std::uint64_t home_slot = 0;
  };
  struct Used {
    std::shared_ptr<Storage> storage;
    std::uint64_t data = 0;
  };
  struct Target {
    Storage* storage;
    std::uint64_t slot;
  };

  [[nodiscard]] Storage* scratch();
  [[nodiscard]] Target target(DataId data, Place const& place);
  void release(Storage* storage);

  OpenScratch m_open_scratch;
  std::mutex m_mutex;  // taken under the engine's lock: held only for bookkeeping
  std::unique_ptr<Storage> m_scratch;
  std::vector<Slots> m_slots;  // by datum
  std::unordered_map<Storage*, Used> m_storages;
};

}  // namespace granary::detail
