// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/fold_rows.hpp>
#include <granary/detail/linalg/kernels/qr_block.hpp>
#include <granary/detail/linalg/kernels/qr_kernels.hpp>

#include <algorithm>

namespace granary::kernels {
namespace {

// Order of the triangles T of a slice.
constexpr int inner_block = 32;

// Rows of a slice: 256 KiB of it, but enough that the work on R itself is small.
template <class T>
[[nodiscard]] int slice_rows(int cols) {
  constexpr int bytes = 1 << 18;
  int const fitting = bytes / static_cast<int>(sizeof(T)) / std::max(1, cols);
  return std::max({64, 2 * cols, fitting / 8 * 8});
}

template <class T>
[[nodiscard]] std::size_t slice_entries(int cols) {
  return static_cast<std::size_t>(slice_rows<T>(cols)) * static_cast<std::size_t>(cols);
}

[[nodiscard]] std::size_t triangle_entries(int cols) {
  return static_cast<std::size_t>(inner_block) * static_cast<std::size_t>(cols);
}

// Of few columns: a panel is loaded, and its vectors are left.
template <class T>
void fold_panel(detail::TileView<T> const& r, int first, int rows, LoadRows<T> const& load, T* workspace) {
  QrPanel<T> panel({rows, r.cols, true, rows}, workspace);
  load(first, tile_of(panel.vectors()));
  copy<T, T>(MatrixPart::Upper, false, r, tile_of(panel.upper()));
  panel.factor();
  copy<T, T>(MatrixPart::Upper, false, tile_of(panel.upper()), r);
}

}  // namespace

template <class T>
std::size_t fold_workspace(int cols) {
  int const rows = slice_rows<T>(cols);
  if (cols <= inner_block) return QrPanel<T>::workspace(rows, cols);
  return slice_entries<T>(cols) + triangle_entries(cols) + qr_factor_workspace<T>(rows, cols, inner_block);
}

template <class T>
void fold_rows(detail::TileView<T> r, int rows, LoadRows<typename detail::NotDeduced<T>::type> const& load,
               typename detail::NotDeduced<T>::type* workspace) {
  require(r.rows == r.cols, "fold_rows", "R " + extents(r.rows, r.cols));
  int const most = slice_rows<T>(r.cols);
  // Slices of equal size, of whole vectors.
  int const slices = (rows + most - 1) / most;
  int const equal = slices == 0 ? 0 : std::min(most, ((rows + slices - 1) / slices + 7) / 8 * 8);
  for (int first = 0; first < rows; first += equal) {
    int const count = std::min(equal, rows - first);
    if (r.cols <= inner_block) {
      fold_panel<T>(r, first, count, load, workspace);
      continue;
    }
    detail::TileView<T> const slice{workspace, count, r.cols, count};
    T* const triangles = workspace + slice_entries<T>(r.cols);
    load(first, slice);
    tsqrt<T>(r, slice, {triangles, inner_block, r.cols, inner_block}, triangles + triangle_entries(r.cols));
  }
}

#define GRANARY_INSTANTIATE(T)                 \
  template std::size_t fold_workspace<T>(int); \
  template void fold_rows(detail::TileView<T>, int, LoadRows<T> const&, std::add_pointer_t<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
