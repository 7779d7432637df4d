// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/backend.hpp>
#include <granary/outofcore/storage.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// A slot of a storage: an origin or a home of a datum. Without a storage: none.
struct StorageSlot {
  std::shared_ptr<Storage> storage;
  std::uint64_t slot = 0;

  explicit operator bool() const { return storage != nullptr; }
};

/// A disk as the engine sees it: performs the copies of the links to and from one disk node. A datum's origin and home
/// are slots of storages; values without a home lie in a scratch storage at the offsets that the planner gave them.
class DiskNode final : public CopyBackend {
 public:
  using OpenScratch = std::function<std::unique_ptr<Storage>()>;

  /// `open_scratch` is called when the first value goes to scratch, without a lock; what it throws fails that copy. It
  /// may be called by several threads at once, and one of the storages is used.
  explicit DiskNode(OpenScratch open_scratch) : m_open_scratch(std::move(open_scratch)) {}

  /// Says where the datum's origin and home are. Storages are shared until the last datum on them was forgotten and
  /// `collect` was called.
  void bind(DataId data, StorageSlot const& origin, StorageSlot const& home);
  void copy_async(CopyRequest const& request, CopyCompletion done) override;
  void forget(DataId data) override;
  /// Lets go of storages that no datum uses any more. Call it from a thread that may destroy them, which an I/O thread
  /// may not.
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
  std::mutex m_mutex;  // taken under the engine's lock: held for bookkeeping alone
  std::unique_ptr<Storage> m_scratch;
  std::vector<Slots> m_slots;  // by datum
  std::unordered_map<Storage*, Used> m_storages;
};

}  // namespace granary

#pragma GCC visibility pop
