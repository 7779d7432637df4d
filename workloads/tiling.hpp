// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/precision.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>

#include <cstdint>
#include <string>

namespace granary::workloads {

/// A square matrix of tiles x tiles tiles of size `tile`; tiles of the last row and column may be smaller: see `n`.
struct GRANARY_EXPORT Tiling {
  std::uint64_t tiles = 8;
  std::uint64_t tile = 960;
  detail::Precision precision = detail::Precision::Double;
  std::uint64_t inner_tile = 0;  ///< of tasks that may run as finer graphs: see TaskEmitter::inner_tile
  bool commuting = false;        ///< the updates of a tile commute
  std::uint64_t n = 0;           ///< the order of the matrix, which needs just so many tiles; 0: all of them are full

  [[nodiscard]] Bytes element() const { return scalar_bytes(precision); }
  [[nodiscard]] Bytes tile_bytes() const { return tile * tile * element(); }
  [[nodiscard]] std::string variant() const { return letter_of(precision); }
  [[nodiscard]] std::uint64_t order() const { return n > 0 ? n : tiles * tile; }
  [[nodiscard]] detail::TileGrid grid() const { return square_grid(order(), tile); }
  /// Of tile (i, j).
  [[nodiscard]] Bytes tile_bytes(std::uint64_t i, std::uint64_t j) const {
    return grid().elements_in(i, j) * element();
  }
  /// Of all tiles, or of the tiles of one triangle.
  [[nodiscard]] Bytes matrix_bytes(MatrixPart part = MatrixPart::All) const {
    std::uint64_t elements = order() * order();
    if (part != MatrixPart::All) {  // half of what is beside the diagonal tiles
      for (std::uint64_t i = 0; i < tiles; ++i) elements += grid().elements_in(i, i);
      elements /= 2;
    }
    return elements * element();
  }
  /// tile^3
  [[nodiscard]] double cube() const {
    auto const b = static_cast<double>(tile);
    return b * b * b;
  }
  /// Real operations of an algorithm that takes `real` of them on real scalars.
  [[nodiscard]] double flops(double real) const { return flops_factor(precision) * real; }
  /// Throws InvalidArgument for a matrix without tiles, for tiles that are too many or too large for ids and sizes, for
  /// an order that needs another number of tiles, and for inner tiles that are larger than tiles.
  void check() const {
    if (inner_tile > tile) {
      throw InvalidArgument("tiles of size " + std::to_string(tile) + " cannot have inner tiles of size " +
                            std::to_string(inner_tile));
    }
    if (tiles < 1 || tiles > 4096 || tile < 1 || tile > 1048576) {
      throw InvalidArgument("a matrix of " + std::to_string(tiles) + " x " + std::to_string(tiles) + " tiles of size " +
                            std::to_string(tile) + " is out of range: a row has 1 to 4096 tiles of size 1 to 1048576");
    }
    if (grid().tile_rows() != tiles) {
      throw InvalidArgument("a matrix of order " + std::to_string(n) + " has not " + std::to_string(tiles) +
                            " tiles of size " + std::to_string(tile) + " in a row but " +
                            std::to_string(grid().tile_rows()));
    }
    static_cast<void>(array_bytes({3, order(), order()}, element()));  // GEMM's three matrices
  }
};

}  // namespace granary::workloads
