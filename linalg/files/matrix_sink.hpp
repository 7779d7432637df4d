// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/files/matrix_output.hpp>
#include <granary/detail/linalg/files/tile_memory.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary::detail {

struct GRANARY_EXPORT MatrixSinkOptions {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::uint64_t tile = 0;
  ScalarType scalar_type = ScalarType::Float64;
  MatrixPart part = MatrixPart::Lower;  ///< written part, a trapezoid unless it is square; the rest reads as zeros
  std::string dataset = "L";
  unsigned dimensions = 2;                ///< 1: a vector; then there is one column
  std::vector<std::string> columns = {};  ///< their names, for the attribute `columns_attribute`; empty: none
};

/// A matrix that is written tile by tile into a new HDF5 file, whose chunks are tiles: the home of tiled data. h5py
/// shows element (i, j) at [i, j], or [i] of a vector. As HDF5 requires, chunks at the edges of the matrix are
/// full-sized; their part beyond the matrix is neither written nor read.
///
/// The file is written as `<path>.partial` (detail::PartialFile), with space reserved for the written part. `commit`
/// renames it to its path; without it the destructor removes it. HDF5 allocates the file once; then tiles are written
/// directly at their offsets. Tile sizes that are multiples of 32 bypass the page cache, except for a last tile column
/// that the matrix's edge cuts. HDF5 1.10 or newer reads the file.
class GRANARY_EXPORT MatrixSink final : public MatrixOutput {
 public:
  /// Throws InvalidArgument if the output cannot be created, another run is writing it, an extent or the tile size is
  /// 0, a tile has 4 GiB or more, a vector has several columns, or there are names for another number of columns; Error
  /// if the disk is full or HDF5 cannot write.
  MatrixSink(std::shared_ptr<AsyncFileIo> io, std::string const& path, MatrixSinkOptions const& options);
  /// Writes tiles to the file of a sink of another process, whose `place` this is, with the same path and options. That
  /// one commits, after the `sync` of all others. Throws IoError if this process cannot open the file.
  MatrixSink(std::shared_ptr<AsyncFileIo> io, std::string const& path, MatrixSinkOptions const& options,
             std::string const& place);

  /// The first byte and the path at which other processes write, as text.
  [[nodiscard]] std::string place() const;
  /// Reads back a written tile. `bytes` must be tile_bytes(slot). Throws InternalError otherwise, for a tile outside
  /// the part, and after commit.
  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) override;
  /// Like read_async. The elements of a diagonal tile outside the part are written as zeros, whatever `source` holds.
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) override;
  [[nodiscard]] std::string describe(std::uint64_t slot) const override;

  /// Adds a one-dimensional dataset to the file, before commit: for example the pivots of a factor. Throws
  /// InvalidArgument for a name that is taken, Error if HDF5 cannot write it.
  void add_vector(std::string const& dataset, std::span<std::int64_t const> values);
  /// The same of scalars, by their bytes in memory.
  void add_vector(std::string const& dataset, ScalarType type, std::span<std::byte const> values);

  /// Makes what was written durable.
  void sync() { m_file->sync(); }
  /// InternalError in a sink of another process' file.
  void commit() override;

 private:
  // For a row of tiles, those in the part.
  struct Stretch {
    std::uint64_t first;
    std::uint64_t tiles;
  };

  // Types are HDF5's.
  void write_vector(std::string const& dataset, std::int64_t file_type, std::int64_t type, std::uint64_t count,
                    void const* values);
  void create_file();
  [[nodiscard]] Stretch row_of_part(std::uint64_t i) const;
  [[nodiscard]] Bytes bytes_of_part() const;
  void reserve_space();
  void check(std::uint64_t slot, Bytes bytes) const;
  [[nodiscard]] Bytes chunk_bytes() const { return m_chunk_rows * m_chunk_cols * size_of(m_options.scalar_type); }
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t slot) const { return m_first_byte + slot * chunk_bytes(); }
  [[nodiscard]] std::vector<IoExtent> extents_of(std::uint64_t slot, std::byte* memory) const;
  // For a tile on the diagonal, with zeros outside the part.
  [[nodiscard]] TileMemory copy_of_part(std::uint64_t slot, std::byte const* source);

  std::shared_ptr<AsyncFileIo> m_io;
  std::string m_path;
  std::optional<PartialFile> m_output;  // empty: another process has it
  MatrixSinkOptions m_options;
  // A chunk is a tile, cut to the matrix if that is smaller.
  std::uint64_t m_chunk_rows;
  std::uint64_t m_chunk_cols;
  std::uint64_t m_first_byte = 0;
  std::shared_ptr<File const> m_file;
  std::mutex m_mutex;
  std::vector<TileMemory> m_spare_tiles;
};

}  // namespace granary::detail
