// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/api/parts.hpp>

namespace granary::detail {

PartRange checked_range(std::string const& name, std::size_t dimension, std::size_t extent, std::int64_t first,
                        std::int64_t last) {
  if (first >= 0 && first < last && static_cast<std::uint64_t>(last) <= extent)
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
  throw InvalidArgument("a part of '" + name + "' cannot have the elements from " + std::to_string(first) + " to " +
                        std::to_string(last) + " of dimension " + std::to_string(dimension) + ", which has " +
                        std::to_string(extent));
}

std::string describe(std::span<PartRange const> ranges) {
  std::string text;
  for (auto const& [first, last] : ranges)
    text += (text.empty() ? "[" : ", ") + std::to_string(first) + ":" + std::to_string(last);
  return text + "]";
}

std::size_t checked_tile(std::string const& name, std::size_t dimension, std::int64_t tile) {
  if (tile >= 1) return static_cast<std::size_t>(tile);
  throw InvalidArgument("the parts of '" + name + "' cannot have " + std::to_string(tile) + " elements in dimension " +
                        std::to_string(dimension));
}

void refuse_part_of_temporary() {
  throw InvalidArgument(
      "a temporary is in no fixed place, so it has no part of any ranges: cut it with "
      "partition(temporary, tiles...), or use a View");
}

void refuse_parts_of_part() {
  throw InvalidArgument(
      "a part of a temporary cannot be cut again: cut the temporary, whose divisions may be used together");
}

}  // namespace granary::detail
