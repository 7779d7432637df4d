// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

#include <cstdint>

namespace granary::detail {

/// A strided rectangle of bytes, in memory or in a file: `count` lines of `line` bytes, which start `pitch` bytes
/// apart.
struct GRANARY_EXPORT ByteLines {
  Bytes line = 0;
  std::uint64_t count = 0;
  Bytes pitch = 0;

  /// Bytes of all lines.
  [[nodiscard]] constexpr Bytes bytes() const { return count * line; }
  /// Bytes from the first line's start to the last one's end, with the gaps.
  [[nodiscard]] constexpr Bytes span() const { return count == 0 ? 0 : (count - 1) * pitch + line; }
  /// True if there are no gaps.
  [[nodiscard]] constexpr bool contiguous() const { return count <= 1 || line == pitch; }
  bool operator==(ByteLines const&) const = default;
};

/// The lines at an address. There is at least one, of at least one byte.
[[nodiscard]] inline ByteSet bytes_at(void const* first, ByteLines const& lines) {
  ByteSet::Dimension const dimension{lines.count, lines.pitch};
  return {first, lines.line, {&dimension, 1}};
}

}  // namespace granary::detail
