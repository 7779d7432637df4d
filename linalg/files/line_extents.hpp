// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <granary/outofcore/async_file_io.hpp>

namespace granary::detail {

/// The rows of a tile (or its columns, in a column-major file) as they are in a file: `lines` lines of `line` bytes,
/// `pitch` bytes apart, the first at `offset`. In memory they are contiguous.
struct FileLines {
  std::uint64_t offset;
  Bytes pitch;
  std::uint64_t lines;
  Bytes line;
};

/// One byte range if the file has no gaps between the lines, otherwise one per line: gaps are neither read nor written.
[[nodiscard]] inline std::vector<IoExtent> line_extents(FileLines const& file, std::byte* memory) {
  if (file.line == file.pitch || file.lines == 1) return {{file.offset, memory, file.lines * file.line}};
  std::vector<IoExtent> extents;
  extents.reserve(file.lines);
  for (std::uint64_t k = 0; k < file.lines; ++k)
    extents.push_back({file.offset + k * file.pitch, memory + k * file.line, file.line});
  return extents;
}

}  // namespace granary::detail
