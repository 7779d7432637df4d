// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <cstddef>
#include <cstdint>

/// Common parts of the expansions of tile tasks: an inner graph runs the tiled algorithm of the same name on the
/// sub-tiles of the task's tiles (Hierarchical paper, section 5C: views into the tile, in LAPACK's layout). Products
/// cut only their result, which has enough sub-tiles; a long inner dimension makes them faster.
namespace granary::detail {

/// The parent's tile of the access with that number, at its current location.
template <class T>
[[nodiscard]] TileShape shape_now(InnerGraph const& graph, std::size_t access, TileShape tile) {
  if (graph.pitch(access) > 0) tile.ld = to_int32(graph.pitch(access) / sizeof(T), "a leading dimension");
  return tile;
}

/// True if a task with that result runs as a finer graph with sub-tile size `inner`; 0: never.
[[nodiscard]] inline bool splits(TileShape const& result, std::int32_t inner) {
  return inner > 0 && (result.rows > inner || result.cols > inner);
}

/// The tile of the parent's access with that number as a matrix with tile size `inner`, or one part of it.
template <class T>
[[nodiscard]] TiledMatrix<T> sub_tiles(InnerGraph& graph, std::size_t access, TileShape const& shape,
                                       std::int32_t inner, MatrixPart part = MatrixPart::All) {
  auto const tile = shape_now<T>(graph, access, shape);
  TileGrid const grid{static_cast<std::uint64_t>(tile.rows), static_cast<std::uint64_t>(tile.cols),
                      static_cast<std::uint64_t>(inner)};
  return {grid, part, tile.layout, static_cast<std::uint64_t>(tile.ld), [&](std::uint64_t i, std::uint64_t j) {
            return graph.part(access, tile.offset(grid.first(i), grid.first(j)) * sizeof(T));
          }};
}

/// The elements of `count` rows of op(A) from `first` on, where A is the parent's tile of the access with that number:
/// rows or columns of A in full length.
template <class T>
[[nodiscard]] TileRef rows_of_op(InnerGraph& graph, std::size_t access, TileShape const& shape, Op op,
                                 std::uint64_t first, std::int32_t count) {
  auto const tile = shape_now<T>(graph, access, shape);
  bool const rows = op == Op::NoTrans;
  auto const offset = rows ? tile.offset(first, 0) : tile.offset(0, first);
  return {rows ? tile.part(count, tile.cols) : tile.part(tile.rows, count), graph.part(access, offset * sizeof(T))};
}

/// The codelet of a tile operation that may run as a finer graph.
template <class T>
[[nodiscard]] Codelet expandable_codelet(char const* name, Kernel kernel, Expansion expand, Kernel on_device,
                                         Check check = nullptr) {
  auto codelet = tile_codelet<T>(name, kernel, on_device, check);
  codelet.expand = expand;
  return codelet;
}

}  // namespace granary::detail
