// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/runtime/runtime.hpp>
#include <granary/linalg/files/matrix_sink.hpp>
#include <granary/linalg/files/matrix_source.hpp>
#include <granary/linalg/tiled_matrix.hpp>
#include <granary/linalg/view_form.hpp>

#include <Kokkos_Core.hpp>

#include <memory>
#include <string>
#include <type_traits>

namespace granary {

/// A matrix in files as tiled data of the runtime, or the part of it that `part` names: first values come from
/// `source`, final ones go to `sink`, either of which may be null. Both must have the tiles of `grid`.
template <class T>
[[nodiscard]] TiledMatrix<T> add_file_matrix(Runtime& runtime, TileGrid grid, MatrixPart part, std::string const& name,
                                             std::shared_ptr<Storage> const& source,
                                             std::shared_ptr<Storage> const& sink) {
  return {grid, part, Layout::RowMajor, grid.tile, [&](std::uint64_t i, std::uint64_t j) {
            auto const slot = grid.slot(i, j);
            return runtime.add_data(tile_name(name, i, j), grid.tile * grid.tile * sizeof(T),
                                    {.origin = {source, slot}, .home = {sink, slot}});
          }};
}

/// A View on the host, or the part of it that `part` names, as tiled data of the runtime, in place: host workers use the
/// View itself, which does not count against the memory limit. Any of LayoutLeft, LayoutRight and LayoutStride with one
/// stride of 1, as LAPACK has it. The View must outlive the data. Throws InvalidArgument when the View is empty, has no
/// stride of 1, or elements that overlap.
template <class ViewType>
[[nodiscard]] auto add_view_matrix(Runtime& runtime, ViewType const& view, std::uint64_t tile, MatrixPart part) {
  using T = typename ViewType::non_const_value_type;
  static_assert(ViewType::rank == 2 && std::is_same_v<T, typename ViewType::value_type>,
                "a matrix that tasks may change is a View of rank 2 of elements that are not const");
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ViewType::memory_space>::accessible,
                "the View must be on the host");
  auto const form = detail::view_form(view.label(), {view.extent(0), view.extent(1), tile},
                                      static_cast<std::int64_t>(view.stride(0)), static_cast<std::int64_t>(view.stride(1)));
  TileGrid const grid{view.extent(0), view.extent(1), tile};
  auto const bytes_of = [&](std::uint64_t i, std::uint64_t j) {
    bool const column_major = form.layout == Layout::ColumnMajor;
    auto const major = column_major ? grid.cols_in(j) : grid.rows_in(i);
    auto const minor = column_major ? grid.rows_in(i) : grid.cols_in(j);
    return ((major - 1) * form.leading + minor) * sizeof(T);
  };
  return TiledMatrix<T>(grid, part, form.layout, form.leading, [&](std::uint64_t i, std::uint64_t j) {
    auto* const first = reinterpret_cast<std::byte*>(&view(grid.first(i), grid.first(j)));
    return runtime.add_data(tile_name(view.label(), i, j), bytes_of(i, j), {.host = first});
  });
}

}  // namespace granary
