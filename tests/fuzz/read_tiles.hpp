// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/linalg/files/tile_memory.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include <algorithm>
#include <memory>

namespace granary::fuzz {

/// Reads all tiles of a matrix if it is small. Throws what reading throws.
inline void read_tiles(detail::MatrixFileInfo const& info) {
  constexpr std::uint64_t most_elements = 1 << 14;
  if (detail::matrix_bytes(info.name(), info.rows, info.cols, info.scalar_type) >
      most_elements * size_of(info.scalar_type))
    return;
  static auto const io = detail::make_async_file_io();
  auto const longest = std::max(info.rows, info.cols);
  auto const natural = info.chunk_rows > 0 ? info.chunk_rows : longest;
  auto const tile = std::clamp<std::uint64_t>(natural, 1, 128);
  auto const source = open_matrix_source(info, tile, MatrixPart::All, io);
  auto const memory = detail::allocate_tiles(source->largest_tile_bytes());
  auto const slots = std::min<std::uint64_t>(source->tiling().tile_rows() * source->tiling().tile_cols(), 64);
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    detail::PendingIo pending;
    source->read_async(slot, memory.get(), source->tile_bytes(slot), pending.one());
    pending.require(0);
  }
}

}  // namespace granary::fuzz
