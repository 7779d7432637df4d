// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include <granary/outofcore/async_file_io.hpp>

namespace granary::detail {

/// The rows of a chunk lie side by side in the file, those of a tile `stride` bytes apart.
struct ChunkRows {
  std::uint64_t rows;
  Bytes row_bytes;
  Bytes stride;
};

/// Reads a chunk in one stretch and moves its rows to their places in the tile.
inline void read_chunk(AsyncFileIo& io, std::shared_ptr<File const> file, std::uint64_t offset, std::byte* tile,
                       ChunkRows const& chunk, IoCompletion done) {
  auto const bytes = chunk.rows * chunk.row_bytes;
  if (chunk.row_bytes == chunk.stride) return io.read(std::move(file), offset, tile, bytes, std::move(done));
  io.read(std::move(file), offset, tile, bytes, [tile, chunk, done = std::move(done)](std::exception_ptr error) {
    // They move apart: the last one first.
    for (auto r = chunk.rows; r-- > 1;)
      std::memmove(tile + r * chunk.stride, tile + r * chunk.row_bytes, chunk.row_bytes);
    done(std::move(error));
  });
}

}  // namespace granary::detail
