// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <granary/linalg/files/line_extents.hpp>
#include <granary/linalg/files/source_kinds.hpp>

namespace granary::detail {
namespace {

template <std::size_t Size>
struct Element {
  std::byte bytes[Size];
};

// TO := FROM^T, FROM having `lines` lines of `elements` elements.
template <std::size_t Size>
void transpose(std::byte const* from, std::byte* to, std::uint64_t lines, std::uint64_t elements) {
  auto const* const source = reinterpret_cast<Element<Size> const*>(from);
  auto* const target = reinterpret_cast<Element<Size>*>(to);
  constexpr std::uint64_t block = 32;
  for (std::uint64_t i0 = 0; i0 < lines; i0 += block) {
    for (std::uint64_t j = 0; j < elements; ++j) {
      for (std::uint64_t i = i0; i < std::min(i0 + block, lines); ++i) target[j * lines + i] = source[i * elements + j];
    }
  }
}

template <std::size_t Size>
void transpose_square(std::byte* values, std::uint64_t n) {
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

// Copies a tile that is not square; a single line needs no work.
template <std::size_t Size>
void transpose_in_place(std::byte* values, std::uint64_t lines, std::uint64_t elements) {
  if (lines == 1 || elements == 1) return;
  if (lines == elements) return transpose_square<Size>(values, lines);
  auto const bytes = lines * elements * Size;
  auto const copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(copy.get(), values, bytes);
  transpose<Size>(copy.get(), values, lines, elements);
}

void transpose_in_place(std::byte* values, std::uint64_t lines, std::uint64_t elements, Bytes size) {
  if (size == 4) return transpose_in_place<4>(values, lines, elements);
  if (size == 8) return transpose_in_place<8>(values, lines, elements);
  transpose_in_place<16>(values, lines, elements);
}

// Swaps the bytes of each number.
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
    // In the file's order, a matrix consists of lines: its rows, or its columns.
    auto const line_length = m_column_major ? t.rows : t.cols;
    auto const first_line = m_column_major ? t.first(j) : t.first(i);
    auto const first_element = m_column_major ? t.first(i) : t.first(j);
    auto const lines = m_column_major ? t.cols_in(j) : t.rows_in(i);
    auto const elements = m_column_major ? t.rows_in(i) : t.cols_in(j);
    auto extents = line_extents({.offset = m_first_byte + (first_line * line_length + first_element) * size,
                                 .pitch = line_length * size,
                                 .lines = lines,
                                 .line = elements * size},
                                destination);
    if (!m_column_major && !m_swapped)
      return m_io->submit(IoDirection::Read, m_file, std::move(extents), std::move(done));
    m_io->submit(IoDirection::Read, m_file, std::move(extents),
                 [this, destination, lines, elements, done = std::move(done)](std::exception_ptr error) {
                   try {
                     if (!error) rearrange(destination, lines, elements);
                   } catch (...) {
                     error = std::current_exception();
                   }
                   done(std::move(error));
                 });
  }

  void rearrange(std::byte* tile, std::uint64_t lines, std::uint64_t elements) const {
    auto const size = size_of(scalar_type());
    auto const bytes = lines * elements * size;
    bool const single = scalar_type() == ScalarType::Float32 || scalar_type() == ScalarType::Complex64;
    if (m_swapped && single) swap_bytes<4>(tile, bytes / 4);
    if (m_swapped && !single) swap_bytes<8>(tile, bytes / 8);
    if (m_column_major) transpose_in_place(tile, lines, elements, size);
  }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
  std::uint64_t m_first_byte;
  bool m_column_major;
  bool m_swapped;
};

// Chunks are tiles, cut to the matrix if it is smaller than a tile. Of chunks at the edges only the part inside the
// matrix is read.
class ChunkSource final : public MatrixSource {
 public:
  ChunkSource(MatrixFileInfo const& info, ChunkMap chunks, std::uint64_t tile, MatrixPart part,
              std::shared_ptr<AsyncFileIo> io)
      : MatrixSource({info.rows, info.cols, tile}, info.scalar_type, part, info.name()),
        m_io(std::move(io)),
        m_file(File::open_for_reading(info.path)),
        m_chunks(std::move(chunks)),
        m_pitch(info.chunk_cols * size_of(info.scalar_type)) {}

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    auto const& t = tiling();
    auto extents = line_extents({.offset = m_chunks.at(slot),
                                 .pitch = m_pitch,
                                 .lines = t.rows_in(t.row_of(slot)),
                                 .line = t.cols_in(t.col_of(slot)) * size_of(scalar_type())},
                                destination);
    m_io->submit(IoDirection::Read, m_file, std::move(extents), std::move(done));
  }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
  ChunkMap m_chunks;
  Bytes m_pitch;  // bytes between rows of a chunk
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
