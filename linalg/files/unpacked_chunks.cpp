// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/unpacked_chunks.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>

namespace granary::detail {
namespace {

constexpr Bytes room_factor = 4;

// Calls transfer(done), which returns what the system call does, until all bytes are transferred. Returns 0, or the
// error number.
template <class Transfer>
int transfer_all(Bytes bytes, Transfer const& transfer) {
  for (Bytes done = 0; done < bytes;) {
    auto const now = transfer(done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return now < 0 ? errno : EIO;
    done += static_cast<Bytes>(now);
  }
  return 0;
}

std::uint64_t parts(std::uint64_t extent, std::uint64_t part) { return (extent + part - 1) / part; }

}  // namespace

std::unique_ptr<UnpackedChunks> UnpackedChunks::make(std::string const& directory, TileGrid const& tiling,
                                                     MatrixPart part, ElementBlock const& chunk, Bytes element) {
  auto const slots = tiling.tile_rows() * tiling.tile_cols();
  auto const room = checked_product({room_factor, slots, tiling.largest_tile(), element});
  if (!room) return nullptr;
  try {
    require_space(directory, "the unpacked tiles", *room, *room / room_factor);
    return std::unique_ptr<UnpackedChunks>(
        new UnpackedChunks(File::create_unlinked(directory), tiling, part, chunk, element));
  } catch (Error const&) {
    return nullptr;
  }
}

UnpackedChunks::UnpackedChunks(std::shared_ptr<File const> file, TileGrid const& tiling, MatrixPart part,
                               ElementBlock const& chunk, Bytes element)
    : m_file(std::move(file)),
      m_tiling(tiling),
      m_part(part),
      m_chunk(chunk),
      m_element(element),
      m_chunk_cols(parts(tiling.cols, chunk.cols)),
      m_unpacked(parts(tiling.rows, chunk.rows) * m_chunk_cols) {}

Bytes UnpackedChunks::read_tile(std::uint64_t slot, std::byte* destination, ReadBlock const& read) {
  auto const i = m_tiling.row_of(slot);
  auto const j = m_tiling.col_of(slot);
  auto const last_row = m_tiling.first(i) + m_tiling.rows_in(i) - 1;
  auto const last_col = m_tiling.first(j) + m_tiling.cols_in(j) - 1;
  auto const before = m_written;
  for (auto r = m_tiling.first(i) / m_chunk.rows; r <= last_row / m_chunk.rows; ++r) {
    for (auto c = m_tiling.first(j) / m_chunk.cols; c <= last_col / m_chunk.cols; ++c) {
      if (m_unpacked[r * m_chunk_cols + c]) continue;
      auto const row = r * m_chunk.rows;
      auto const col = c * m_chunk.cols;
      unpack({row, col, std::min(m_chunk.rows, m_tiling.rows - row), std::min(m_chunk.cols, m_tiling.cols - col)},
             read);
      m_unpacked[r * m_chunk_cols + c] = true;
    }
  }
  auto const offset = slot * m_tiling.largest_tile() * m_element;
  auto const bytes = m_tiling.elements_in(i, j) * m_element;
  int const error = transfer_all(bytes, [&](Bytes done) {
    return ::pread(m_file->descriptor(false), destination + done, bytes - done, static_cast<off_t>(offset + done));
  });
  if (error != 0) throw IoError("cannot read", m_file->name(), offset, error);
  m_file->drop_cache(offset, bytes);
  return m_written - before;
}

void UnpackedChunks::unpack(ElementBlock const& chunk, ReadBlock const& read) {
  m_elements.resize(m_chunk.rows * m_chunk.cols * m_element);
  read(chunk, m_elements.data());
  auto const tile = m_tiling.tile;
  for (auto i = chunk.row / tile; i <= (chunk.row + chunk.rows - 1) / tile; ++i) {
    for (auto j = chunk.col / tile; j <= (chunk.col + chunk.cols - 1) / tile; ++j) {
      if (holds(m_part, i, j)) m_written += write_piece(chunk, i, j);
    }
  }
  m_file->start_writing_back();
}

// Writes the elements that the chunk and the tile share to the tile's place; returns their bytes.
Bytes UnpackedChunks::write_piece(ElementBlock const& chunk, std::uint64_t i, std::uint64_t j) const {
  auto const top = std::max(chunk.row, m_tiling.first(i));
  auto const bottom = std::min(chunk.row + chunk.rows, m_tiling.first(i) + m_tiling.rows_in(i));
  auto const left = std::max(chunk.col, m_tiling.first(j));
  auto const right = std::min(chunk.col + chunk.cols, m_tiling.first(j) + m_tiling.cols_in(j));
  auto const bytes = (right - left) * m_element;
  auto const of_tile = m_tiling.slot(i, j) * m_tiling.largest_tile();
  for (auto row = top; row < bottom; ++row) {
    auto const* const from = m_elements.data() + ((row - chunk.row) * chunk.cols + left - chunk.col) * m_element;
    auto const in_tile = (row - m_tiling.first(i)) * m_tiling.cols_in(j) + left - m_tiling.first(j);
    auto const offset = (of_tile + in_tile) * m_element;
    int const error = transfer_all(bytes, [&](Bytes done) {
      return ::pwrite(m_file->descriptor(false), from + done, bytes - done, static_cast<off_t>(offset + done));
    });
    if (error != 0) throw IoError("cannot write", m_file->name(), offset, error);
  }
  return (bottom - top) * bytes;
}

}  // namespace granary::detail
