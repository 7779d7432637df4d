// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lines.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace granary::detail {

/// Copies a datum of `bytes` bytes from where its lines may have gaps to where they are packed.
inline void pack_lines(Lines const& lines, Bytes bytes, std::byte const* from, std::byte* to) {
  if (lines.count == 0 && bytes > 0) std::memcpy(to, from, bytes);
  for (std::uint64_t i = 0; i < lines.count; ++i) {
    std::memcpy(to + i * lines.packed, from + i * lines.pitch, lines.line);
  }
}

}  // namespace granary::detail
