// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/kokkos_core.hpp>
#include <granary/core/runtime/runtime.hpp>
#include <granary/linalg/data/tiled_matrix.hpp>
#include <granary/linalg/files/matrix_sink.hpp>
#include <granary/linalg/files/matrix_source.hpp>
#include <granary/linalg/runtime/view_form.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#pragma GCC visibility push(default)

namespace granary {

/// A matrix in files, or the part `part` of it, as tiled data of the runtime. `source` has the initial values and
/// `sink` gets the final ones; either may be null. Both must have the tiles of `grid`.
template <class T>
[[nodiscard]] TiledMatrix<T> add_file_matrix(Runtime& runtime, TileGrid grid, MatrixPart part, std::string const& name,
                                             std::shared_ptr<Storage> const& source,
                                             std::shared_ptr<Storage> const& sink) {
  check_size(grid, sizeof(T));
  return {grid, part, Layout::RowMajor, [&](std::uint64_t i, std::uint64_t j) {
            auto const slot = grid.slot(i, j);
            return runtime.add_data(tile_name(name, i, j), grid.elements_in(i, j) * sizeof(T),
                                    {.origin = {source, slot}, .home = {sink, slot}, .position = tile_position(i, j)});
          }};
}

namespace detail {

/// Memory layout of a host View of rank 1 or 2; with rank 1 it is a column.
template <class T>
struct ViewElements {
  T* first;
  std::uint64_t rows;
  std::uint64_t cols;
  std::int64_t row_stride;
  std::int64_t col_stride;
};

template <class ViewType>
[[nodiscard]] auto elements_of(ViewType const& view) {
  static_assert(ViewType::rank == 1 || ViewType::rank == 2, "a matrix is a View of rank 2, or 1 for a column");
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ViewType::memory_space>::accessible,
                "the View must be on the host");
  ViewElements<typename ViewType::value_type> elements{view.data(), view.extent(0), 1,
                                                       static_cast<std::int64_t>(view.stride(0)), 1};
  if constexpr (ViewType::rank == 2) {
    elements.cols = view.extent(1);
    elements.col_stride = static_cast<std::int64_t>(view.stride(1));
  }
  return elements;
}

}  // namespace detail

/// A View on the host, or the part `part` of it, as tiled data of the runtime. It is used in place: host workers access
/// the View itself, which does not count against the memory limit. Rank 2: LayoutLeft, LayoutRight, or LayoutStride
/// with one stride of 1, as in LAPACK. Rank 1: a column, with any stride. Tasks may only read a View of const elements.
/// The View must outlive the data. Throws InvalidArgument if the View is empty, has no stride of 1, a negative stride,
/// or overlapping elements.
template <class ViewType>
[[nodiscard]] auto add_view_matrix(Runtime& runtime, ViewType const& view, std::uint64_t tile, MatrixPart part) {
  using T = typename ViewType::non_const_value_type;
  auto const elements = detail::elements_of(view);
  TileGrid const grid{elements.rows, elements.cols, tile};
  auto const form = detail::view_form(view.label(), grid, elements.row_stride, elements.col_stride);
  bool const column_major = form.layout == Layout::ColumnMajor;
  auto* const first = const_cast<T*>(elements.first);
  auto const lines_of_all = column_major ? grid.cols : grid.rows;
  auto const pinned =
      runtime.pin(reinterpret_cast<std::byte*>(first),
                  ((lines_of_all - 1) * form.leading + (column_major ? grid.rows : grid.cols)) * sizeof(T));
  return TiledMatrix<T>(grid, part, form.layout, [&](std::uint64_t i, std::uint64_t j) {
    auto const row = grid.first(i);
    auto const col = grid.first(j);
    auto* const corner = first + (column_major ? row + col * form.leading : row * form.leading + col);
    auto const line = (column_major ? grid.rows_in(i) : grid.cols_in(j)) * sizeof(T);
    Lines const lines{.line = line,
                      .count = column_major ? grid.cols_in(j) : grid.rows_in(i),
                      .pitch = form.leading * sizeof(T),
                      .packed = line};
    return runtime.add_data(tile_name(view.label(), i, j), grid.elements_in(i, j) * sizeof(T),
                            {.host = reinterpret_cast<std::byte*>(corner),
                             .lines = lines,
                             .keep = pinned,
                             .position = tile_position(i, j)});
  });
}

}  // namespace granary

#pragma GCC visibility pop
