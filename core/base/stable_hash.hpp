// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

namespace granary {

/// FNV-1a, the same on every platform. `hash` continues the hash of what stood before `text`.
[[nodiscard]] constexpr std::uint64_t stable_hash(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325U) {
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace granary
