// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/panel_kernels.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace granary::kernels {
namespace {

// Factors A, column-major; the pivots are counted from the first row of A.
template <class T>
int factor_in_place(detail::TileView<T> const& a, int* pivots) {
  int const count = std::min(a.rows, a.cols);
  int const zero = blas::getrf(a.rows, a.cols, a.data, a.ld, pivots);
  for (int s = 0; s < count; ++s) {
    int const row = pivots[s] - 1;
    pivots[s] = row < s || row >= a.rows ? s : row;
  }
  return zero;
}

}  // namespace

template <class T>
detail::TileView<T> as_one(std::span<detail::TileView<T> const> tiles) {
  auto all = tiles.front();
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    auto const step =
        all.layout == detail::TileLayout::ColumnMajor ? std::ptrdiff_t{1} : static_cast<std::ptrdiff_t>(all.ld);
    if (tiles[i].data != all.data + all.rows * step || tiles[i].ld != all.ld) return {};
    all.rows += tiles[i].rows;
  }
  // A column must not reach into the next one.
  return all.layout == detail::TileLayout::ColumnMajor && all.ld < all.rows ? detail::TileView<T>{} : all;
}

template <class T>
Panel<T>::Panel(std::span<detail::TileView<T> const> tiles, T* workspace, int* pivots)
    : m_tiles(tiles.begin(), tiles.end()), m_workspace(workspace), m_pivots(pivots) {
  if (auto const all = as_one(tiles); all.data != nullptr) m_tiles.assign(1, all);
  m_height = m_tiles.front().rows;
  for (auto const& tile : m_tiles) m_rows += tile.rows;
}

// The rows from `first` on, tile by tile.
template <class T>
template <class Function>
void Panel<T>::for_rows(int first, Function&& function) {
  for (auto const& tile : m_tiles) {
    int const skipped = std::min(first, tile.rows);
    first -= skipped;
    if (skipped < tile.rows) function(sub(tile, skipped, 0, tile.rows - skipped, tile.cols));
  }
}

template <class T>
int Panel<T>::factor(int first, int end) {
  if (is_one_block() || end - first <= panel_block) return factor_block(first, end);
  int const middle = first + ((end - first) / 2 + panel_block - 1) / panel_block * panel_block;
  int const zero = factor(first, middle);
  update(first, middle, middle, end);
  int const later = factor(middle, end);
  exchange(middle, end, first, middle);
  return zero > 0 ? zero : later;
}

template <class T>
int Panel<T>::factor_block(int first, int end) {
  bool const in_place = is_one_block();
  int const rows = m_rows - first, cols = end - first;
  auto const block =
      in_place ? sub(m_tiles.front(), first, first, rows, cols) : detail::TileView<T>{m_workspace, rows, cols, rows};
  auto const each = [&](auto&& copy_rows) {
    int above = 0;
    if (in_place) return;
    for_rows(first, [&](detail::TileView<T> const& part) {
      copy_rows(sub(part, 0, first, part.rows, cols), sub(block, above, 0, part.rows, cols));
      above += part.rows;
    });
  };
  each([](auto const& tile, auto const& copied) { copy<T, T>(MatrixPart::All, false, tile, copied); });
  int const zero = factor_in_place(block, m_pivots + first);
  each([](auto const& tile, auto const& copied) { copy<T, T>(MatrixPart::All, false, copied, tile); });
  for (int s = first; s < first + std::min(rows, cols); ++s) m_pivots[s] += first;
  return zero > 0 ? first + zero : 0;
}

template <class T>
void Panel<T>::update(int first, int end, int left, int right) {
  exchange(first, end, left, right);
  int const done = end - first, cols = right - left;
  auto const& top = m_tiles.front();
  auto const u = sub(top, first, left, done, cols);
  trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), sub(top, first, first, done, done), u);
  for_rows(end, [&](detail::TileView<T> const& part) {
    gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), sub(part, 0, first, part.rows, done), u, T(1),
            sub(part, 0, left, part.rows, cols));
  });
}

template <class T>
void Panel<T>::exchange(int first, int end, int left, int right) {
  auto const& top = m_tiles.front();
  auto const row_of = [&](int row) { return std::pair(static_cast<std::size_t>(row / m_height), row % m_height); };
  if (top.layout == detail::TileLayout::RowMajor) {
    for (int s = first; s < end; ++s) {
      auto const [tile, row] = row_of(m_pivots[s]);
      auto* const slot = &top(s, left);
      std::swap_ranges(slot, slot + (right - left), &m_tiles[tile](row, left));
    }
    return;
  }
  for (int col = left; col < right; ++col) {
    for (int s = first; s < end; ++s) {
      auto const [tile, row] = row_of(m_pivots[s]);
      std::swap(top(s, col), m_tiles[tile](row, col));
    }
  }
}

template <class T>
PanelPivots getrf_panel(std::span<detail::TileView<T> const> tiles, typename detail::NotDeduced<T>::type* workspace,
                        int block) {
  PanelPivots result;
  result.pivots.resize(static_cast<std::size_t>(tiles.front().cols));
  Panel<T> panel(tiles, workspace, result.pivots.data());
  int const count = std::min(panel.rows(), panel.cols());
  auto const end_of = [&](int first) { return std::min(first + block, count); };
  for (int first = 0; first < count; first += block) {
    int const zero = panel.factor(first, end_of(first));
    if (result.zero == 0) result.zero = zero;
    for (int later = end_of(first); later < count; later += block) {
      panel.update(first, end_of(first), later, end_of(later));
    }
  }
  for (int first = 0; end_of(first) < count; first += block) panel.exchange(end_of(first), count, first, end_of(first));
  if (count < panel.cols()) panel.update(0, count, count, panel.cols());
  result.pivots.resize(static_cast<std::size_t>(count));
  return result;
}

#define GRANARY_INSTANTIATE(T)                                                           \
  template class Panel<T>;                                                               \
  template detail::TileView<T> as_one(std::span<detail::TileView<T> const>);             \
  template detail::TileView<T const> as_one(std::span<detail::TileView<T const> const>); \
  template PanelPivots getrf_panel(std::span<detail::TileView<T> const>, std::add_pointer_t<T>, int);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
