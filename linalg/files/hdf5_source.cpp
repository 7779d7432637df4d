// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/hdf5_support.hpp>
#include <granary/detail/linalg/files/source_kinds.hpp>
#include <granary/detail/linalg/files/unpacked_chunks.hpp>
#include <granary/detail/outofcore/io_thread.hpp>

namespace granary::detail {
namespace {

constexpr Bytes chunk_cache_bytes = 16_MiB;
constexpr Bytes most_compressed_chunk_bytes = 32_MiB;

class Hdf5Source final : public MatrixSource {
 public:
  Hdf5Source(MatrixFileInfo const& info, std::uint64_t tile, MatrixPart part, std::shared_ptr<AsyncFileIo> io,
             std::string const& scratch)
      : MatrixSource({info.rows, info.cols, tile}, info.scalar_type, part, info.name(), info.columns),
        m_io(std::move(io)),
        m_cached(File::open_for_reading(info.path)),
        m_info(info),
        m_part(part),
        m_thread("granary-hdf5") {
    Hdf5Lock const lock;
    m_file = open_to_read(info.path);
    // HDF5 does not keep a chunk that is larger than the cache: it would unpack it for every tile.
    auto const chunk_bytes = info.chunk_rows * info.chunk_cols * size_of(info.scalar_type);
    open_dataset(std::max(chunk_cache_bytes, std::min(chunk_bytes, most_compressed_chunk_bytes)));
    auto const properties =
        require({H5Dget_create_plist(m_dataset.get()), H5Pclose}, "read the layout of", info.name());
    if (H5Pget_nfilters(properties.get()) == 0) return;
    m_block = {std::max<std::uint64_t>(info.chunk_rows / tile, 1), std::max<std::uint64_t>(info.chunk_cols / tile, 1)};
    if (chunk_bytes > most_compressed_chunk_bytes) {
      throw DataError(info.name() + " is compressed in chunks of " + format_bytes(chunk_bytes) + "; chunks of up to " +
                      format_bytes(most_compressed_chunk_bytes) +
                      " can be read within a memory limit (h5repack makes smaller ones)");
    }
    bool const shared = info.chunk_rows > tile || info.chunk_cols > tile;
    if (scratch.empty() || !shared) return;
    m_unpacked = UnpackedChunks::make(scratch, tiling(), part, {0, 0, info.chunk_rows, info.chunk_cols},
                                      size_of(info.scalar_type));
    if (m_unpacked) open_dataset(0);
  }

  ~Hdf5Source() override {
    Hdf5Lock const lock;
    m_dataset.reset();
    m_file.reset();
  }

  [[nodiscard]] Block read_together() const override { return m_block; }

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    m_thread.post([this, slot, destination, done = std::move(done)]() mutable {
      auto const bytes = tile_bytes(slot);
      std::exception_ptr error;
      try {
        read_tile(slot, destination);
      } catch (...) {
        error = std::current_exception();
      }
      // HDF5 reads through the page cache.
      m_bytes_since_drop += bytes;
      if (m_bytes_since_drop >= chunk_cache_bytes) {
        m_cached->drop_cache(0, 0);
        m_bytes_since_drop = 0;
      }
      m_io->complete_elsewhere(IoDirection::Read, bytes, std::move(error), std::move(done));
    });
  }

  void open_dataset(Bytes cache) {
    auto const access = require({H5Pcreate(H5P_DATASET_ACCESS), H5Pclose}, "open", name());
    constexpr std::size_t hash_slots = 12421;
    H5Pset_chunk_cache(access.get(), hash_slots, cache, 0.75);
    m_dataset = {};  // HDF5 has one cache for all that have it open
    m_dataset = require({H5Dopen2(m_file.get(), m_info.dataset.c_str(), access.get()), H5Dclose}, "open", name());
  }

  void read_tile(std::uint64_t slot, std::byte* destination) {
    auto const& t = tiling();
    auto const i = t.row_of(slot);
    auto const j = t.col_of(slot);
    if (m_unpacked && holds(m_part, i, j) && read_unpacked(slot, destination)) return;
    read({t.first(i), t.first(j), t.rows_in(i), t.cols_in(j)}, destination, describe(slot));
  }

  // False if the disk is full: from now on HDF5 reads the tiles.
  bool read_unpacked(std::uint64_t slot, std::byte* destination) {
    try {
      auto const written = m_unpacked->read_tile(
          slot, destination,
          [&](ElementBlock const& block, std::byte* elements) { read(block, elements, describe(slot)); });
      if (written > 0) m_io->complete_elsewhere(IoDirection::Write, written, nullptr, [](std::exception_ptr) {});
      return true;
    } catch (IoError const&) {
      m_unpacked.reset();
      Hdf5Lock const lock;
      open_dataset(std::max(chunk_cache_bytes, m_info.chunk_rows * m_info.chunk_cols * size_of(scalar_type())));
      return false;
    }
  }

  void read(ElementBlock const& block, std::byte* destination, std::string const& what) {
    hsize_t const start[2] = {block.row, block.col};
    hsize_t const count[2] = {block.rows, block.cols};
    Hdf5Lock const lock;
    auto const file_space = require({H5Dget_space(m_dataset.get()), H5Sclose}, "read", what);
    auto const memory_space = require({H5Screate_simple(2, count, nullptr), H5Sclose}, "read", what);
    auto const type = memory_type(scalar_type());
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
        H5Dread(m_dataset.get(), type.get(), memory_space.get(), file_space.get(), H5P_DEFAULT, destination) < 0) {
      throw DataError("cannot read " + what + ": " + hdf5_reason());
    }
  }

  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<File const> m_cached;
  MatrixFileInfo m_info;
  MatrixPart m_part;
  Hdf5Id m_file;
  Hdf5Id m_dataset;
  std::unique_ptr<UnpackedChunks> m_unpacked;  // null: HDF5 reads the tiles
  Block m_block;
  Bytes m_bytes_since_drop = 0;
  SerialThread m_thread;
};

}  // namespace

std::unique_ptr<MatrixSource> make_hdf5_source(MatrixFileInfo const& info, std::uint64_t tile, MatrixPart part,
                                               std::shared_ptr<AsyncFileIo> io, std::string const& scratch) {
  return std::make_unique<Hdf5Source>(info, tile, part, std::move(io), scratch);
}

}  // namespace granary::detail
