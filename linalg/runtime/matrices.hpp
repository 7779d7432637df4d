// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/files/matrix_sink.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>
#include <granary/detail/linalg/runtime/view_form.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

namespace granary {

/// A matrix in files, or the part `part` of it, as tiled data of the runtime. `source` has the initial values and
/// `sink` gets the final ones; either may be null. Both must have the tiles of `grid`.
template <class T>
[[nodiscard]] detail::TiledMatrix<T> add_file_matrix(detail::Session& session, detail::TileGrid grid, MatrixPart part,
                                                     std::string const& name,
                                                     std::shared_ptr<detail::Storage> const& source,
                                                     std::shared_ptr<detail::Storage> const& sink) {
  check_size(grid, sizeof(T));
  return detail::TiledMatrix<T>(
             grid, part, detail::TileLayout::RowMajor,
             [&](std::uint64_t i, std::uint64_t j) {
               auto const slot = grid.slot(i, j);
               return session.add_data(
                   detail::tile_name(name, i, j), grid.elements_in(i, j) * sizeof(T),
                   {.origin = {source, slot}, .home = {sink, slot}, .position = detail::tile_position(i, j)});
             })
      .named(name);
}

namespace detail {

/// The layout of a host View of rank 1 or 2, for tiles of size `tile`; with rank 1 it is a column.
template <class ViewType>
[[nodiscard]] MatrixShape view_form(ViewType const& view, std::uint64_t tile) {
  static_assert(ViewType::rank == 1 || ViewType::rank == 2, "a matrix is a View of rank 2, or 1 for a column");
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ViewType::memory_space>::accessible,
                "the View must be on the host");
  TileGrid grid{view.extent(0), 1, tile};
  std::int64_t col_stride = 1;
  if constexpr (ViewType::rank == 2) {
    grid.cols = view.extent(1);
    col_stride = static_cast<std::int64_t>(view.stride(1));
  }
  return view_form(view.label(), grid, static_cast<std::int64_t>(view.stride(0)), col_stride);
}

}  // namespace detail

/// A View on the host, or the part `part` of it, as tiled data of the runtime. It is used in place: host workers access
/// the View itself, which does not count against the memory limit. Rank 2: LayoutLeft, LayoutRight, or LayoutStride
/// with one stride of 1, as in LAPACK. Rank 1: a column, with any stride. Tasks may only read a View of const elements.
/// A copy of the View is kept until the data are forgotten; memory that no View manages must exist until then. Throws
/// InvalidArgument if the View is empty, has no stride of 1, a negative stride, or overlapping elements.
///
/// ```cpp
/// Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const view("A", 100, 70);
/// granary::Runtime runtime;
/// auto const a = granary::add_view_matrix(runtime.session(), view, 32, granary::MatrixPart::All);
/// assert(a.grid().tile_rows() == 4 && a.grid().tile_cols() == 3);
/// ```
template <class ViewType>
[[nodiscard]] auto add_view_matrix(detail::Session& session, ViewType const& view, std::uint64_t tile,
                                   MatrixPart part) {
  using T = typename ViewType::non_const_value_type;
  auto const matrix = detail::view_form(view, tile);
  detail::TileGrid const grid{matrix.rows, matrix.cols, tile};
  auto* const first = const_cast<T*>(view.data());
  struct Kept {
    ViewType view;
    std::shared_ptr<void const> pinned;
  };
  auto const kept = std::make_shared<Kept const>(
      Kept{view, session.pin(reinterpret_cast<std::byte*>(first), matrix.bytes(sizeof(T)).span())});
  auto const name = detail::name_or_shape(view.label(), detail::shape_of(view));
  auto const add = [&](std::uint64_t i, std::uint64_t j) {
    auto* const corner = first + matrix.offset(grid.first(i), grid.first(j));
    auto const lines = matrix.part(grid.rows_in(i), grid.cols_in(j)).bytes(sizeof(T));
    return session.add_data(detail::tile_name(name, i, j), grid.elements_in(i, j) * sizeof(T),
                            {.memory = reinterpret_cast<std::byte*>(corner),
                             .lines = {lines.line, lines.count, lines.pitch, /*packed=*/lines.line},
                             .keep = std::shared_ptr<ViewType const>(kept, &kept->view),
                             .serves = &detail::serves<ViewType>,
                             .position = detail::tile_position(i, j)});
  };
  return detail::TiledMatrix<T>(grid, part, matrix.layout, add).named(name);
}

}  // namespace granary
