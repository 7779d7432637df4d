// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>

namespace granary {

Bytes array_bytes(std::span<std::uint64_t const> extents, Bytes element) {
  auto const elements = checked_product(extents);
  auto const bytes = elements ? checked_product({*elements, element}) : std::nullopt;
  if (bytes) return *bytes;
  std::string text;
  for (auto const extent : extents) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  throw InvalidArgument("an array of " + text + " elements of " + std::to_string(element) +
                        " bytes is too large: the limit is 2^63 - 1 bytes");
}

}  // namespace granary
