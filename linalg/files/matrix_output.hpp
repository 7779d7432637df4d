// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>
#include <granary/detail/outofcore/storage.hpp>

namespace granary::detail {

/// A matrix that is written tile by tile into a new file: the home of tiled data. Slots and tile layout are as in
/// MatrixSource. `commit` renames the file to its path; without it the destructor removes the file.
class GRANARY_EXPORT MatrixOutput : public Storage {
 public:
  [[nodiscard]] TileGrid const& tiling() const { return m_tiling; }
  [[nodiscard]] ScalarType scalar_type() const { return m_type; }
  /// Bytes of a tile.
  [[nodiscard]] Bytes tile_bytes(std::uint64_t slot) const {
    return m_tiling.elements_in(m_tiling.row_of(slot), m_tiling.col_of(slot)) * size_of(m_type);
  }
  /// Bytes of the largest tile.
  [[nodiscard]] Bytes largest_tile_bytes() const { return tile_bytes(0); }

  /// Makes the file durable and renames it to its path, replacing an older file. Call it once, when no operation is in
  /// flight. Throws IoError; then the destructor removes the file.
  virtual void commit() = 0;

 protected:
  /// Throws InvalidArgument if an extent or the tile size is 0.
  MatrixOutput(TileGrid const& tiling, ScalarType type);

 private:
  TileGrid m_tiling;
  ScalarType m_type;
};

}  // namespace granary::detail
