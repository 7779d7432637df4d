// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/api/temporary.hpp>

#include <granary/detail/core/base/checked.hpp>

#include <vector>

namespace granary::detail {

Bytes temporary_bytes(std::span<Extent const> extents, Bytes element) {
  std::vector<std::uint64_t> checked;
  for (auto const& extent : extents) {
    checked.push_back(extent.negative ? checked_extent(static_cast<std::int64_t>(extent.value)) : extent.value);
  }
  return array_bytes(checked, element);
}

}  // namespace granary::detail
