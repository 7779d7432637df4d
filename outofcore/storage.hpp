// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

namespace granary::detail {

/// The alignment, in bytes, that direct I/O requires of addresses, file offsets and lengths.
inline constexpr Bytes io_alignment = 4096;

/// Called once when an operation has ended, with null if it succeeded. It runs on an I/O thread, never inside the call
/// that started the operation, and must not throw. Move the error when passing it on, so that the thread that handles
/// it also destroys it.
using IoCompletion = std::function<void(std::exception_ptr)>;

/// Stores the values of many data outside memory, each under a slot number: the basis of disk memory nodes, origins and
/// homes.
///
/// Both operations may be called from any thread and return before the transfer ends. The memory is aligned to
/// `io_alignment` and spans `bytes` rounded up to it; it must stay until `done` was called. Every failure arrives
/// through `done`. Operations that overlap on one slot are not ordered, unless both are reads. A storage must not be
/// destroyed while an operation is in flight.
class GRANARY_EXPORT Storage {
 public:
  Storage() = default;
  Storage(Storage const&) = delete;
  Storage& operator=(Storage const&) = delete;
  virtual ~Storage();

  /// Starts to read the value of `slot`, `bytes` long, into `destination`.
  virtual void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) = 0;
  /// Starts to write `bytes` bytes at `source` as the value of `slot`.
  virtual void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) = 0;

  /// The slot's name for messages: `tile (3, 2) of A.h5:/A`.
  [[nodiscard]] virtual std::string describe(std::uint64_t slot) const = 0;
};

/// A slot of a storage: an origin or a home of a datum. Null without a storage.
struct GRANARY_EXPORT StorageSlot {
  std::shared_ptr<Storage> storage;
  std::uint64_t slot = 0;

  explicit operator bool() const { return storage != nullptr; }
};

}  // namespace granary::detail
