// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <granary/detail/linalg/data/strided_shape.hpp>
#include <granary/detail/linalg/files/line_extents.hpp>
#include <granary/detail/linalg/files/source_kinds.hpp>

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
      : MatrixSource({info.rows, info.cols, tile}, info.scalar_type, part, info.name(), info.columns),
        m_io(std::move(io)),
        m_file(File::open_for_reading(info.path)),
        m_first_byte(info.first_byte),
        m_matrix(info.column_major ? MatrixShape{info.rows, info.cols, info.rows, TileLayout::ColumnMajor}
                                   : MatrixShape{info.rows, info.cols, info.cols, TileLayout::RowMajor}),
        m_swapped(info.swapped) {}

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    auto const& t = tiling();
    auto const i = t.row_of(slot);
    auto const j = t.col_of(slot);
    auto const size = size_of(scalar_type());
    auto const part = m_matrix.part(t.rows_in(i), t.cols_in(j));
    auto extents =
        line_extents(m_first_byte + m_matrix.offset(t.first(i), t.first(j)) * size, part.bytes(size), destination);
    if (!column_major() && !m_swapped)
      return m_io->submit(IoDirection::Read, m_file, std::move(extents), std::move(done));
    m_io->submit(IoDirection::Read, m_file, std::move(extents),
                 [this, destination, part, done = std::move(done)](std::exception_ptr error) {
                   try {
                     if (!error) rearrange(destination, part.lines(), part.line());
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
    if (column_major()) transpose_in_place(tile, lines, elements, size);
  }
  [[nodiscard]] bool column_major() const { return m_matrix.layout == TileLayout::ColumnMajor; }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
  std::uint64_t m_first_byte;
  MatrixShape m_matrix;  // in the file
  bool m_swapped;
};

// Chunks are tiles, cut to the matrix if it is smaller than a tile. Of chunks at the edges only the part inside the
// matrix is read.
class ChunkSource final : public MatrixSource {
 public:
  ChunkSource(MatrixFileInfo const& info, ChunkMap chunks, std::uint64_t tile, MatrixPart part,
              std::shared_ptr<AsyncFileIo> io)
      : MatrixSource({info.rows, info.cols, tile}, info.scalar_type, part, info.name(), info.columns),
        m_io(std::move(io)),
        m_file(File::open_for_reading(info.path)),
        m_chunks(std::move(chunks)),
        m_chunk{info.chunk_rows, info.chunk_cols, info.chunk_cols, TileLayout::RowMajor} {}

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    auto const& t = tiling();
    auto const part = m_chunk.part(t.rows_in(t.row_of(slot)), t.cols_in(t.col_of(slot)));
    auto extents = line_extents(m_chunks.at(slot), part.bytes(size_of(scalar_type())), destination);
    m_io->submit(IoDirection::Read, m_file, std::move(extents), std::move(done));
  }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_file;
  ChunkMap m_chunks;
  MatrixShape m_chunk;
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
