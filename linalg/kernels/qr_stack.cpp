// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/block_reflector.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/kernels/panel_kernels.hpp>
#include <granary/detail/linalg/kernels/qr_block.hpp>
#include <granary/detail/linalg/kernels/qr_kernels.hpp>
#include <granary/detail/linalg/kernels/qr_stack.hpp>
#include <granary/detail/linalg/kernels/stored_tile.hpp>

#include <algorithm>

namespace granary::kernels {
namespace {

using detail::TileView;

template <class T>
[[nodiscard]] int rows_in(std::span<TileView<T> const> stack) {
  int rows = 0;
  for (auto const& tile : stack) rows += tile.rows;
  return rows;
}

[[nodiscard]] std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

// The vectors of the top tile, with their ones and zeros, in column-major memory.
template <class T>
[[nodiscard]] TileView<T> whole_vectors(TileView<T const> const& top, int reflectors, T* memory) {
  TileView<T> const v{memory, top.rows, reflectors, std::max(1, top.rows)};
  copy<T, T>(MatrixPart::All, false, sub(top, 0, 0, top.rows, reflectors), v);
  set(MatrixPart::Upper, T(0), T(1), v);
  return v;
}

// Columns [first, end) of T from the products of the vectors. Recursive: T_12 = -T_1 G_12 T_2.
template <class T>
void make_triangle(TileView<T const> const& gram, TileView<T const> const& tau, TileView<T> const& t, int first,
                   int end) {
  constexpr int few = 32;
  if (end - first > few) {
    int const middle = (first + end) / 2, left = middle - first, right = end - middle;
    make_triangle(gram, tau, t, first, middle);
    make_triangle(gram, tau, t, middle, end);
    auto const corner = sub(t, first, middle, left, right);
    copy<T, T>(MatrixPart::All, false, sub(gram, first, middle, left, right), corner);
    trmm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(-1), sub(t, first, first, left, left), corner);
    trmm<T>(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), sub(t, middle, middle, right, right), corner);
    return;
  }
  for (int j = first; j < end; ++j) {
    for (int i = first; i < j; ++i) {
      T sum(0);
      for (int k = i; k < j; ++k) sum += t(i, k) * gram(k, j);
      t(i, j) = -tau(j, 0) * sum;
    }
    t(j, j) = tau(j, 0);
  }
}

}  // namespace

template <class T>
std::size_t qr_panel_workspace(int rows, int cols) {
  return product(rows, cols) + qr_factor_workspace<T>(rows, cols, std::min(rows, cols));
}

template <class T>
void qr_panel(std::span<TileView<T> const> panel, TileView<T> tau, TileView<T> t,
              typename detail::NotDeduced<T>::type* workspace) {
  int const rows = rows_in(panel), cols = panel.front().cols, reflectors = std::min(rows, cols);
  require(tau.rows >= reflectors && t.rows >= reflectors && t.cols >= reflectors, "qr_panel",
          "the panel " + extents(rows, cols) + ", tau " + extents(tau.rows, tau.cols) + " and T " +
              extents(t.rows, t.cols));
  auto all = as_one<T>(panel);
  bool const in_place = all.data != nullptr && !row_major(all);
  if (!in_place) all = {workspace, rows, cols, std::max(1, rows)};
  // Calls function(tile, its rows in the copy).
  auto const for_copied = [&](auto const& function) {
    int first = 0;
    for (auto const& tile : panel) {
      if (!in_place) function(tile, sub(all, first, 0, tile.rows, cols));
      first += tile.rows;
    }
  };
  for_copied([](auto const& tile, auto const& part) { copy<T, T>(MatrixPart::All, false, tile, part); });
  geqrt<T>(all, sub(t, 0, 0, reflectors, reflectors), workspace + product(rows, cols));
  for (int j = 0; j < reflectors; ++j) tau(j, 0) = t(j, j);
  for_copied([](auto const& tile, auto const& part) { copy<T, T>(MatrixPart::All, false, part, tile); });
}

template <class T>
std::size_t qr_triangle_workspace(int rows, int cols) {
  int const reflectors = std::min(rows, cols);
  return product(reflectors, reflectors) + product(rows, reflectors);
}

template <class T>
void qr_triangle(std::span<TileView<T const> const> panel, typename detail::NotDeduced<TileView<T const>>::type tau,
                 TileView<T> t, typename detail::NotDeduced<T>::type* workspace) {
  int const rows = rows_in(panel), reflectors = std::min(rows, panel.front().cols);
  require(tau.rows >= reflectors && t.rows >= reflectors && t.cols >= reflectors, "qr_triangle",
          "the panel " + extents(rows, panel.front().cols) + ", tau " + extents(tau.rows, tau.cols) + " and T " +
              extents(t.rows, t.cols));
  if (reflectors == 0) return;
  TileView<T> const gram{workspace, reflectors, reflectors, reflectors};
  int first = 0;
  for (auto const& tile : panel) {
    // The top tile has the ones; a panel with fewer rows than columns is one tile.
    if (first == 0) {
      auto const v = whole_vectors<T>(tile, reflectors, workspace + product(reflectors, reflectors));
      herk<T>(Uplo::Upper, Op::ConjTrans, 1, v, 0, gram);
    } else {
      herk<T>(Uplo::Upper, Op::ConjTrans, 1, sub(tile, 0, 0, tile.rows, reflectors), 1, gram);
    }
    first += tile.rows;
  }
  make_triangle<T>(gram, tau, sub(t, 0, 0, reflectors, reflectors), 0, reflectors);
}

template <class T>
std::size_t apply_panel_workspace(int reflectors, int lines) {
  return BlockReflector<T>::workspace(lines, reflectors);
}

template <class T>
void apply_panel(Op op, std::span<TileView<T const> const> panel,
                 typename detail::NotDeduced<TileView<T const>>::type t, std::span<TileView<T> const> c,
                 typename detail::NotDeduced<T>::type* workspace) {
  require_op<T>("apply_panel", op);
  int const rows = rows_in(panel), reflectors = std::min(rows, panel.front().cols);
  require(panel.size() == c.size() && rows == rows_in(c) && t.rows >= reflectors && t.cols >= reflectors, "apply_panel",
          "the panel " + extents(rows, panel.front().cols) + ", T " + extents(t.rows, t.cols) + " and C " +
              extents(rows_in(c), c.front().cols));
  auto const all_v = as_one<T const>(panel);
  auto const all_c = as_one<T>(c);
  bool const one = all_v.data != nullptr && all_c.data != nullptr;
  auto const& top_v = one ? all_v : panel.front();
  auto const& top_c = one ? all_c : c.front();
  ReflectorRows<T> of;
  of.uplo = Uplo::Lower;
  of.triangle = sub(top_v, 0, 0, reflectors, reflectors);
  of.beside_triangle = sub(top_c, 0, 0, reflectors, top_c.cols);
  if (int const below = top_v.rows - reflectors; below > 0) {
    of.rectangles.emplace_back(sub(top_v, reflectors, 0, below, reflectors),
                               sub(top_c, reflectors, 0, below, top_c.cols));
  }
  for (std::size_t i = 1; !one && i < panel.size(); ++i)
    of.rectangles.emplace_back(sub(panel[i], 0, 0, panel[i].rows, reflectors), c[i]);
  BlockReflector<T>{Side::Left, op != Op::NoTrans, sub(t, 0, 0, reflectors, reflectors)}.apply(of, workspace);
}

#define GRANARY_INSTANTIATE(T)                                                                           \
  template std::size_t qr_panel_workspace<T>(int, int);                                                  \
  template void qr_panel(std::span<TileView<T> const>, TileView<T>, TileView<T>, std::add_pointer_t<T>); \
  template std::size_t qr_triangle_workspace<T>(int, int);                                               \
  template void qr_triangle<T>(std::span<TileView<T const> const>, TileView<T const>, TileView<T>,       \
                               std::add_pointer_t<T>);                                                   \
  template std::size_t apply_panel_workspace<T>(int, int);                                               \
  template void apply_panel<T>(Op, std::span<TileView<T const> const>, TileView<T const>,                \
                               std::span<TileView<T> const>, std::add_pointer_t<T>);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary::kernels
