// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lines.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/outofcore/storage.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace granary::detail {

// The device side of a datum whose host side is `DataBinding::memory`.
struct GRANARY_EXPORT MirrorSide {
  std::byte* memory = nullptr;  // null: there is none
  bool valid = true;            // whether it holds the value of the host side
};

/// Location of a datum's bytes when no worker uses them: memory of the application, slots of storages, or nowhere (a
/// temporary).
struct GRANARY_EXPORT DataBinding {
  StorageSlot origin = {};  ///< source of the initial value
  StorageSlot home = {};    ///< destination of the final value; the same slot as the origin for data changed in place
  /// Its bytes in memory, which workers there use in place; then it has no other origin and home.
  std::byte* memory = nullptr;
  bool on_host = true;     ///< the host can access `memory`
  MirrorSide mirror = {};  ///< another place in memory, on a device
  Lines lines = {};        ///< of `memory`, if its bytes are not contiguous
  /// The bytes at `memory`, if they are neither `lines` nor contiguous.
  std::optional<ByteSet> set = {};
  std::shared_ptr<void const> keep = {};                           ///< kept until the datum is forgotten
  bool (*serves)(void const* kept, void const* wanted) = nullptr;  ///< see HostBinding
  MatrixPosition position = {};                                    ///< for traces
  Bytes bound = 0;                                                 ///< of a varying datum: see DataDescription
};

}  // namespace granary::detail
