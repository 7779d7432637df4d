// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <granary/detail/core/base/byte_lines.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary::detail {

/// The rows of a tile (or its columns, in a column-major file) in a file, the first at `offset`, and in memory, where
/// they are contiguous: one byte range if the file has no gaps between them, otherwise one per line. Gaps are neither
/// read nor written.
[[nodiscard]] inline std::vector<IoExtent> line_extents(std::uint64_t offset, ByteLines const& file,
                                                        std::byte* memory) {
  if (file.contiguous()) return {{offset, memory, file.bytes()}};
  std::vector<IoExtent> extents;
  extents.reserve(file.count);
  for (std::uint64_t k = 0; k < file.count; ++k)
    extents.push_back({offset + k * file.pitch, memory + k * file.line, file.line});
  return extents;
}

}  // namespace granary::detail
