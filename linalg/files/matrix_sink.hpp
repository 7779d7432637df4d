// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <granary/linalg/files/matrix_file.hpp>
#include <granary/outofcore/async_file_io.hpp>
#include <granary/outofcore/storage.hpp>

namespace granary {

struct MatrixSinkOptions {
  std::uint64_t order = 0;  ///< the matrix has order x order elements
  std::uint64_t tile = 0;
  ScalarType scalar_type = ScalarType::Float64;
  MatrixPart part = MatrixPart::Lower;  ///< what is written; the rest reads as zeros
  std::string dataset = "L";
};

/// A square matrix that is written tile by tile into a new HDF5 file, in chunks that are tiles: the home of tiled data.
/// Slots and the form of tiles are TileGrid's; h5py shows at [i, j] what is at row i and column j.
///
/// The file is written beside `path`, as `<path>.partial-<process id>`, with room reserved for the part that is
/// written. `commit` gives it its name; without it the destructor removes it. HDF5 lays the file out once; after that
/// tiles go straight to their offsets. Tile sizes that are multiples of 32 go past the page cache. HDF5 1.10 or newer
/// reads the file.
class MatrixSink final : public Storage {
 public:
  /// Throws InvalidArgument when the output cannot be created there, or the order or the tile size is 0; IoError when
  /// the disk is full.
  MatrixSink(std::shared_ptr<AsyncFileIo> io, std::string const& path, MatrixSinkOptions const& options);
  ~MatrixSink() override;

  [[nodiscard]] TileGrid const& tiling() const { return m_tiling; }
  [[nodiscard]] ScalarType scalar_type() const { return m_options.scalar_type; }
  [[nodiscard]] Bytes tile_bytes() const { return m_tiling.tile * m_tiling.tile * size_of(m_options.scalar_type); }

  /// Reads back a tile that was written. `bytes` is tile_bytes(); throws InternalError otherwise, for a tile outside
  /// the part, and after commit.
  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) override;
  /// As read_async. The elements of a diagonal tile outside the part are written as zeros, whatever `source` holds
  /// there.
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) override;
  [[nodiscard]] std::string describe(std::uint64_t slot) const override;

  /// Makes the file durable and renames it to its path, over what was there. Call it once, when nothing is under way.
  /// Throws IoError; then the destructor removes the file.
  void commit();

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Tile = std::unique_ptr<std::byte, Free>;

  void create_file();
  void reserve_space();
  void check(std::uint64_t slot, Bytes bytes) const;
  [[nodiscard]] std::vector<IoExtent> extents_of(std::uint64_t slot, std::byte* memory) const;
  [[nodiscard]] Tile copy_with_zeros(std::byte const* source);

  std::shared_ptr<AsyncFileIo> m_io;
  std::string m_path;
  std::string m_partial_path;
  MatrixSinkOptions m_options;
  TileGrid m_tiling;
  std::uint64_t m_chunk;  // order of a chunk: the tile, or the matrix if that is smaller
  std::uint64_t m_first_byte = 0;
  std::shared_ptr<File const> m_file;
  std::mutex m_mutex;
  std::vector<Tile> m_spare_tiles;
};

/// Throws InvalidArgument when `output` cannot be created in its directory, is a directory, or is the same file as one
/// of `inputs`, by whatever name. Files among `inputs` that do not exist are ignored.
void check_output(std::string const& output, std::vector<std::string> const& inputs);

}  // namespace granary
