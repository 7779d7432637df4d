// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <granary/linalg/files/read_chunk.hpp>
#include <granary/linalg/files/source_kinds.hpp>

namespace granary::detail {
namespace {

template <std::size_t Size>
struct Element {
  std::byte bytes[Size];
};

template <std::size_t Size>
void transpose_in_place(std::byte* values, std::uint64_t n) {
  auto* tile = reinterpret_cast<Element<Size>*>(values);
  constexpr std::uint64_t block = 32;
  for (std::uint64_t i0 = 0; i0 < n; i0 += block) {
    for (std::uint64_t j0 = 0; j0 <= i0; j0 += block) {
      for (std::uint64_t i = i0; i < std::min(i0 + block, n); ++i) {
        for (std::uint64_t j = j0; j < std::min(j0 + block, i); ++j) std::swap(tile[i * n + j], tile[j * n + i]);
      }
    }
  }
}

void transpose_in_place(std::byte* values, std::uint64_t n, Bytes size) {
  if (size == 4) return transpose_in_place<4>(values, n);
  if (size == 8) return transpose_in_place<8>(values, n);
  transpose_in_place<16>(values, n);
}

// Turns round the bytes of each number.
template <std::size_t Size>
void swap_bytes(std::byte* values, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) std::reverse(values + i * Size, values + (i + 1) * Size);
}

class ContiguousSource final : public MatrixSource {
 public:
  ContiguousSource(MatrixFileInfo const& info, std::uint64_t tile, MatrixPart part, std::shared_ptr<AsyncFileIo> io)
      : MatrixSource({info.rows, info.cols, tile}, info.scalar_type, part, info.name()),
        m_io(std::move(io)),
        m_file(File::open_for_reading(info.path)),
        m_first_byte(info.first_byte),
        m_column_major(info.column_major),
        m_swapped(info.swapped) {}

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    auto const& t = tiling();
    auto const i = t.row_of(slot);
    auto const j = t.col_of(slot);
    auto const size = size_of(scalar_type());
    // In the order of the file, a matrix is lines of elements: its rows, or its columns.
    auto const line_length = m_column_major ? t.rows : t.cols;
    auto const first_line = (m_column_major ? j : i) * t.tile;
    auto const first_element = (m_column_major ? i : j) * t.tile;
    auto const lines = m_column_major ? t.cols_in(j) : t.rows_in(i);
    auto const elements = m_column_major ? t.rows_in(i) : t.cols_in(j);

    std::vector<IoExtent> extents;
    extents.reserve(lines);
    for (std::uint64_t line = 0; line < lines; ++line) {
      extents.push_back({m_first_byte + ((first_line + line) * line_length + first_element) * size,
                         destination + line * t.tile * size, elements * size});
    }
    if (!m_column_major && !m_swapped)
      return m_io->submit(IoDirection::Read, m_file, std::move(extents), std::move(done));
    // What lies beyond the matrix takes part in the transposition: give it a value.
    if (lines < t.tile || elements < t.tile) std::memset(destination, 0, tile_bytes());
    m_io->submit(IoDirection::Read, m_file, std::move(extents),
                 [this, destination, done = std::move(done)](std::exception_ptr error) {
                   if (!error) rearrange(destination);
                   done(std::move(error));
                 });
  }

  void rearrange(std::byte* tile) const {
    auto const n = tiling().tile;
    bool const single = scalar_type() == ScalarType::Float32 || scalar_type() == ScalarType::Complex64;
    if (m_swapped && single) swap_bytes<4>(tile, tile_bytes() / 4);
    if (m_swapped && !single) swap_bytes<8>(tile, tile_bytes() / 8);
    if (m_column_major) transpose_in_place(tile, n, size_of(scalar_type()));
  }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
  std::uint64_t m_first_byte;
  bool m_column_major;
  bool m_swapped;
};

// Chunks are tiles, cut to the matrix where it is smaller than a tile.
class ChunkSource final : public MatrixSource {
 public:
  ChunkSource(MatrixFileInfo const& info, ChunkMap chunks, std::uint64_t tile, MatrixPart part,
              std::shared_ptr<AsyncFileIo> io)
      : MatrixSource({info.rows, info.cols, tile}, info.scalar_type, part, info.name()),
        m_io(std::move(io)),
        m_file(File::open_for_reading(info.path)),
        m_chunks(std::move(chunks)),
        m_rows{info.chunk_rows, info.chunk_cols * size_of(info.scalar_type), tile * size_of(info.scalar_type)} {}

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    read_chunk(*m_io, m_file, m_chunks.at(slot), destination, m_rows, std::move(done));
  }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
  ChunkMap m_chunks;
  ChunkRows m_rows;
};

}  // namespace

std::unique_ptr<MatrixSource> make_contiguous_source(MatrixFileInfo const& info, std::uint64_t tile, MatrixPart part,
                                                     std::shared_ptr<AsyncFileIo> io) {
  return std::make_unique<ContiguousSource>(info, tile, part, std::move(io));
}

std::unique_ptr<MatrixSource> make_chunk_source(MatrixFileInfo const& info, ChunkMap chunks, std::uint64_t tile,
                                                MatrixPart part, std::shared_ptr<AsyncFileIo> io) {
  return std::make_unique<ChunkSource>(info, std::move(chunks), tile, part, std::move(io));
}

}  // namespace granary::detail
