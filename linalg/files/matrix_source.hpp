// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>
#include <granary/detail/outofcore/storage.hpp>

namespace granary::detail {

/// The tiles of a matrix that is only read: the origin of tiled data. Slots are as in TileGrid. A tile arrives
/// row-major without gaps, with its own size: smaller at the edges, and if the matrix is narrower than a tile.
///
/// A tile with NaN or infinity, in the part of the matrix that counts, arrives as DataError.
class GRANARY_EXPORT MatrixSource : public Storage {
 public:
  [[nodiscard]] TileGrid const& tiling() const { return m_tiling; }
  [[nodiscard]] ScalarType scalar_type() const { return m_type; }
  /// Bytes of a tile.
  [[nodiscard]] Bytes tile_bytes(std::uint64_t slot) const {
    return m_tiling.elements_in(m_tiling.row_of(slot), m_tiling.col_of(slot)) * size_of(m_type);
  }
  /// Bytes of the largest tile.
  [[nodiscard]] Bytes largest_tile_bytes() const { return tile_bytes(0); }

  /// `bytes` must be tile_bytes(slot); throws InternalError otherwise, or if the slot does not exist.
  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) final;
  /// Throws InternalError.
  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) final;
  [[nodiscard]] std::string describe(std::uint64_t slot) const final;

  /// Tiles in a block of so many tile rows and columns are read faster one after the other: they share a compressed
  /// chunk. 1 and 1 if the order does not matter.
  struct Block {
    std::uint64_t rows = 1;
    std::uint64_t cols = 1;
  };
  [[nodiscard]] virtual Block read_together() const { return {}; }

 protected:
  /// `columns`: their names, for messages; empty without names.
  MatrixSource(TileGrid const& tiling, ScalarType type, MatrixPart part, std::string name,
               std::vector<std::string> columns = {});

  /// Starts to read the tile; `done` as in Storage.
  virtual void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) = 0;

  [[nodiscard]] std::string const& name() const { return m_name; }

 private:
  TileGrid m_tiling;
  ScalarType m_type;
  MatrixPart m_part;
  std::string m_name;
  std::vector<std::string> m_columns;
};

}  // namespace granary::detail
