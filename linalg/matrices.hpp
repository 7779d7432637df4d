// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/error.hpp>
#include <granary/core/runtime/runtime.hpp>
#include <granary/linalg/files/matrix_sink.hpp>
#include <granary/linalg/files/matrix_source.hpp>
#include <granary/linalg/tiled_matrix.hpp>

#include <Kokkos_Core.hpp>

#include <memory>
#include <string>
#include <type_traits>

namespace granary {

/// The stored triangle of a matrix in files as tiled data of the runtime: first values come from `source`, final ones
/// go to `sink`, either of which may be null. Both must have tiles of grid.tile.
template <class T>
[[nodiscard]] TiledMatrix<T> add_file_matrix(Runtime& runtime, TileGrid grid, Uplo stored, std::string const& name,
                                             std::shared_ptr<Storage> const& source,
                                             std::shared_ptr<Storage> const& sink) {
  FileTiling const tiling{grid.n, grid.n, grid.tile};
  return {grid, stored, Layout::RowMajor, grid.tile, [&](std::uint64_t i, std::uint64_t j) {
            auto const slot = tiling.slot(i, j);
            return runtime.add_data(tile_name(name, i, j), grid.tile * grid.tile * sizeof(T),
                                    {.origin = {source, slot}, .home = {sink, slot}});
          }};
}

/// The stored triangle of a square View on the host as tiled data of the runtime, in place: host workers use the View
/// itself, which does not count against the memory limit. Any of LayoutLeft, LayoutRight and LayoutStride with one
/// stride of 1, as LAPACK has it. The View must outlive the data. Throws InvalidArgument when the View is not square or
/// has no stride of 1.
template <class ViewType>
[[nodiscard]] auto add_view_matrix(Runtime& runtime, ViewType const& view, std::uint64_t tile, Uplo stored) {
  using T = typename ViewType::non_const_value_type;
  static_assert(ViewType::rank == 2 && std::is_same_v<T, typename ViewType::value_type>,
                "a matrix to be overwritten is a View of rank 2");
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ViewType::memory_space>::accessible,
                "the View must be on the host");
  if (view.extent(0) != view.extent(1)) {
    throw InvalidArgument("the View '" + view.label() + "' is not square: it is " + std::to_string(view.extent(0)) +
                          " x " + std::to_string(view.extent(1)));
  }
  bool const column_major = view.stride(0) == 1 || view.extent(0) == 1;
  auto const leading =
      view.extent(0) == 1 ? std::size_t{1} : static_cast<std::size_t>(column_major ? view.stride(1) : view.stride(0));
  if (view.extent(0) == 0 || tile == 0 || (!column_major && view.stride(1) != 1)) {
    throw InvalidArgument("the View '" + view.label() +
                          "' must not be empty and must have a stride of 1, and tiles at least one row");
  }
  TileGrid const grid{view.extent(0), tile};
  auto const bytes_of = [&](std::uint64_t i, std::uint64_t j) {
    auto const major = column_major ? grid.size(j) : grid.size(i);
    auto const minor = column_major ? grid.size(i) : grid.size(j);
    return ((major - 1) * leading + minor) * sizeof(T);
  };
  return TiledMatrix<T>(grid, stored, column_major ? Layout::ColumnMajor : Layout::RowMajor, leading,
                        [&](std::uint64_t i, std::uint64_t j) {
                          auto* const first = reinterpret_cast<std::byte*>(&view(grid.first(i), grid.first(j)));
                          return runtime.add_data(tile_name(view.label(), i, j), bytes_of(i, j), {.host = first});
                        });
}

}  // namespace granary
