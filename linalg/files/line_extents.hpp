// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <granary/outofcore/async_file_io.hpp>

namespace granary::detail {

/// The rows of a tile (or its columns, in a file that is column-major) as they lie in a file: `lines` runs of `line`
/// bytes, `pitch` bytes from one to the next, the first at `offset`. In memory they follow each other without gaps.
struct FileLines {
  std::uint64_t offset;
  Bytes pitch;
  std::uint64_t lines;
  Bytes line;
};

/// One stretch where there are no gaps in the file either, otherwise one for each line: what lies between the lines is
/// neither read nor written.
[[nodiscard]] inline std::vector<IoExtent> line_extents(FileLines const& file, std::byte* memory) {
  if (file.line == file.pitch || file.lines == 1) return {{file.offset, memory, file.lines * file.line}};
  std::vector<IoExtent> extents;
  extents.reserve(file.lines);
  for (std::uint64_t k = 0; k < file.lines; ++k)
    extents.push_back({file.offset + k * file.pitch, memory + k * file.line, file.line});
  return extents;
}

}  // namespace granary::detail
