// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/kept_bytes.hpp>
#include <granary/detail/core/engine/pack_lines.hpp>

#include <cstring>

namespace granary::detail {

void KeptBytes::keep() const { pack_lines(lines, bytes, value, aside); }

void KeptBytes::put_back() const {
  if (lines.count == 0) std::memcpy(value, aside, bytes);
  for (std::uint64_t i = 0; i < lines.count; ++i)
    std::memcpy(value + i * lines.pitch, aside + i * lines.packed, lines.line);
}

}  // namespace granary::detail
